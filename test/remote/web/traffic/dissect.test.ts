import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FRAMINGS } from '../../../../src/modbus/protocol/framings.js';
import { FunctionCode } from '../../../../src/modbus/protocol/function-code.js';
import {
  dissect,
  guessedFraming,
  type ShownField,
} from '../../../../src/remote/web/views/traffic/dissect.js';
import { SPECIFICATION_EXAMPLES } from '../../../modbus/protocol/application-protocol.js';
import { EXCEPTIONS } from '../../../modbus/protocol/exceptions.js';
import { bytesOf } from '../../../modbus/protocol/hex.js';

const NAMES = ['rtu', 'ascii', 'socket'] as const;
const REQUEST = { isResponse: false };
const RESPONSE = { isResponse: true };

/** Each byte belongs to one field, in their order. */
function expectAllNamed(fields: readonly ShownField[], bytes: Uint8Array): void {
  let at = 0;
  for (const field of fields) {
    expect(field.at).toBe(at);
    at += field.length;
  }
  expect(at).toBe(bytes.length);
}

const adu = (framing: (typeof NAMES)[number], pdu: Uint8Array) =>
  FRAMINGS[framing].encode({ transactionId: 258, unitId: 17, pdu });
const said = (fields: readonly ShownField[]) =>
  fields.map(({ name, value, wrong }) => `${name}: ${value}${wrong === undefined ? '' : ` (${wrong})`}`);
const wrongOf = (fields: readonly ShownField[]) => fields.filter(({ wrong }) => wrong !== undefined);
/** The fields of a PDU in an RTU frame, without those around it. */
const inPdu = (hex: string, about: Parameters<typeof dissect>[2]) =>
  said(dissect(adu('rtu', bytesOf(hex)), 'rtu', about).slice(2, -1));

describe('a dissected frame', () => {
  const codes = new Set(
    SPECIFICATION_EXAMPLES.map(({ request }) => Number.parseInt(request.slice(0, 2), 16)),
  );

  it('is tried with every function of the specification', () => {
    expect([...codes].sort()).toEqual(Object.values(FunctionCode).map(Number).sort());
  });

  describe.each(NAMES)('%s', (framing) => {
    it.each(SPECIFICATION_EXAMPLES.map((each) => [each.clause, each.name, each] as const))(
      'names all bytes of %s, %s',
      (_clause, _name, { request, response }) => {
        for (const [hex, about] of [
          [request, REQUEST],
          [response, RESPONSE],
        ] as const) {
          const bytes = adu(framing, bytesOf(hex));
          const fields = dissect(bytes, framing, about);
          expectAllNamed(fields, bytes);
          expect(wrongOf(fields)).toEqual([]);
          expect(guessedFraming(bytes)).toBe(framing);
        }
      },
    );

    it.each(EXCEPTIONS)('names the exception of %s, %s', (_clause, _why, _request, response) => {
      const bytes = adu(framing, bytesOf(response));
      const fields = dissect(bytes, framing, RESPONSE);
      expectAllNamed(fields, bytes);
      expect(said(fields).join()).toMatch(/function: exception on .*exception code: \d+ [a-z ]+/);
    });

    it('never fails, and names all bytes, whatever they are', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, isResponse) =>
          expectAllNamed(dissect(bytes, framing, { isResponse }), bytes),
        ),
      );
    });

    it('finds something wrong with every frame that is cut short', () => {
      for (const { request } of SPECIFICATION_EXAMPLES) {
        const whole = adu(framing, bytesOf(request));
        for (let length = 1; length < whole.length; length++) {
          const fields = dissect(whole.subarray(0, length), framing, REQUEST);
          expectAllNamed(fields, whole.subarray(0, length));
          expect(wrongOf(fields), `${request} cut to ${length}`).not.toEqual([]);
        }
      }
    });
  });

  it.each([
    ['01 0013 000A', ['starting address: 19', 'quantity: 10']],
    ['05 00AC FF00', ['output address: 172', 'output value: on']],
    ['05 00AC 1234', ['output address: 172', 'output value: 4660 (expected ff00 or 0000)']],
    ['06 0001 0003', ['register address: 1', 'register value: 3']],
    ['07', []],
    ['08 0000 A537', ['sub-function: 0 return query data', 'data: 42295']],
    ['08 0063 0000', ['sub-function: 99 (not a sub-function in the specification)', 'data: 0']],
    [
      '0F 0013 000A 02 CD01',
      [
        'starting address: 19',
        'quantity: 10',
        'byte count: 2',
        'coils 19–26: 1 0 1 1 0 0 1 1',
        'coils 27–28: 1 0',
      ],
    ],
    [
      '10 0001 0002 04 000A 0102',
      ['starting address: 1', 'quantity: 2', 'byte count: 4', 'register 1: 10', 'register 2: 258'],
    ],
    ['16 0004 00F2 0025', ['reference address: 4', 'and mask: 0x00f2', 'or mask: 0x0025']],
    ['18 04DE', ['FIFO pointer address: 1246']],
    ['2B 0D 01 02', ['MEI type: 13', 'data: ']],
    ['2B 0E 01 00', ['MEI type: 14', 'read device ID code: 1', 'object ID: 0']],
    [
      '15 09 06 0004 0007 0001 06AF',
      [
        'byte count: 9',
        'reference type: 6',
        'file number: 4',
        'record number: 7',
        'record length: 1',
        'file 4 record 7: 1711',
      ],
    ],
    [
      '17 0003 0006 000E 0001 02 00FF',
      [
        'read starting address: 3',
        'quantity to read: 6',
        'write starting address: 14',
        'quantity to write: 1',
        'byte count: 2',
        'register 14: 255',
      ],
    ],
  ])('names the fields of the request %s', (hex, fields) => {
    expect(inPdu(hex, REQUEST)).toEqual(fields);
  });

  it.each([
    ['03 04 022B 0064', { address: 107 }, ['byte count: 4', 'register 107: 555', 'register 108: 100']],
    ['03 04 022B 0064', {}, ['byte count: 4', 'value 1: 555', 'value 2: 100']],
    ['03 06 022B 0064', {}, ['byte count: 6 (4 bytes follow)', 'value 1: 555', 'value 2: 100']],
    ['01 01 05', { address: 8, quantity: 3 }, ['byte count: 1', 'coils 8–10: 1 0 1']],
    ['07 6D', {}, ['bits 0–7: 1 0 1 1 0 1 1 0']],
    ['0B FFFF 0108', {}, ['status: 65535', 'event count: 264']],
    ['11 02 41 FF', {}, ['byte count: 2', 'server ID and status: ']],
    [
      '14 04 03 06 0DFE',
      {},
      ['response data length: 4', 'file response length: 3', 'reference type: 6', 'value 1: 3582'],
    ],
    ['18 0006 0002 01B8 1284', {}, ['byte count: 6', 'FIFO count: 2', 'value 1: 440', 'value 2: 4740']],
    [
      '2B 0E 01 01 00 00 01 00 02 4142',
      {},
      [
        'MEI type: 14',
        'read device ID code: 1',
        'conformity level: 1',
        'more follows: 0',
        'next object ID: 0',
        'number of objects: 1',
        'object ID: 0',
        'object length: 2',
        'object 0: "AB"',
      ],
    ],
    ['41 0102', {}, ['data: ']],
    [
      '06 0001 0003 FFFF',
      {},
      ['register address: 1', 'register value: 3', 'more bytes:  (2 more than the function defines)'],
    ],
  ])('names the fields of the response %s, %o', (hex, known, fields) => {
    expect(inPdu(hex, { ...known, isResponse: true })).toEqual(fields);
  });

  it('says what the CRC should be, in the order of the wire', () => {
    expect(said(dissect(bytesOf('02 07 41 13'), 'rtu', REQUEST))).toEqual([
      'unit: 2',
      'function: 7 read exception status',
      'CRC: 4113 (expected 4112)',
    ]);
    expect(said(dissect(bytesOf('02 07 41 12'), 'rtu', REQUEST)).at(-1)).toBe('CRC: 4112 right');
  });

  it('says what the LRC should be, and which character is no digit', () => {
    const ascii = (text: string) => said(dissect(new TextEncoder().encode(text), 'ascii', REQUEST));
    expect(ascii(':0207F7\r\n')).toContain('LRC: F7 right');
    expect(ascii(':0207F8\r\n')).toContain('LRC: F8 (expected F7)');
    expect(ascii(':02G7F7\r\n').join()).toContain('a character that is not a digit');
    expect(ascii(':0207F7').at(-1)).toBe('end:  (expected carriage return and delimiter)');
  });

  it('says what is wrong with an MBAP header', () => {
    const said7 = said(dissect(bytesOf('0001 0002 0009 11 07'), 'socket', REQUEST));
    expect(said7.slice(1, 3)).toEqual(['protocol: 2 (expected 0)', 'length: 9 (2 bytes follow)']);
  });

  it('finds several frames behind each other', () => {
    for (const framing of ['rtu', 'socket'] as const) {
      const one = adu(framing, bytesOf('06 0001 0003'));
      const both = Uint8Array.of(...one, ...one);
      const fields = dissect(both, framing, RESPONSE);
      expectAllNamed(fields, both);
      expect(wrongOf(fields)).toEqual([]);
      expect(fields.filter(({ name }) => name === 'unit')).toHaveLength(2);
    }
  });
});
