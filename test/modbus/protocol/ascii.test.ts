import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AsciiFraming,
  CARRIAGE_RETURN,
  isHexDigit,
  LINE_FEED,
  MAX_ASCII_LENGTH,
  mayDelimit,
} from '../../../src/modbus/protocol/ascii.js';
import { COLON } from '../../../src/modbus/protocol/limits.js';
import { byte } from './arbitrary-request.js';
import { bytesOf, hexOf } from './hex.js';

const framing = new AsciiFraming();
const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const text = (adu: Uint8Array | undefined) => adu && String.fromCharCode(...adu);
const content = (unitId: number, pdu: string) => ({ transactionId: 0, unitId, pdu: bytesOf(pdu) });

/** Published messages, less their line ends, and where they stand. */
const PUBLISHED: [where: string, message: string, unitId: number, pdu: string][] = [
  ['Delta ASDA-B2 manual, chapter 8, LRC', ':010302010001F8', 1, '03 0201 0001'],
  ['Simply Modbus, ASCII vs RTU', ':1103006B00037E', 17, '03 006B 0003'],
  ['goburrow/modbus and pymodbus, tests', ':F7031389000A60', 247, '03 1389 000A'],
  ['node-modbus/stream, tests, function 1', ':110100130025B6', 17, '01 0013 0025'],
  ['node-modbus/stream, tests, function 2', ':110200C4001613', 17, '02 00C4 0016'],
  ['node-modbus/stream, tests, function 4', ':110400080001E2', 17, '04 0008 0001'],
  ['node-modbus/stream, tests, function 5', ':110500ACFF003F', 17, '05 00AC FF00'],
  ['node-modbus/stream, tests, function 6', ':110600010003E5', 17, '06 0001 0003'],
  ['node-modbus/stream, tests, function 15', ':110F0013000A02CD01F3', 17, '0F 0013 000A 02 CD01'],
  [
    'node-modbus/stream, tests, function 16',
    ':1110000100020400' + '0A0102CB',
    17,
    '10 0001 0002 04 000A 0102',
  ],
];

describe('published messages', () => {
  it.each(PUBLISHED)('%s: %s', (_where, message, unitId, pdu) => {
    expect(text(framing.encode(content(unitId, pdu)))).toBe(`${message}\r\n`);
    expect(framing.decode(bytes(`${message}\r\n`))).toEqual(content(unitId, pdu));
    expect(framing.fields(bytes(`${message}\r\n`))).toEqual(content(unitId, pdu));
  });
});

describe('an ASCII message', () => {
  it('gives back its content, whatever that is', () => {
    fc.assert(
      fc.property(byte, fc.uint8Array({ minLength: 1, maxLength: 253 }), (unitId, pdu) => {
        const adu = framing.encode({ unitId, pdu });
        expect(text(adu)).toMatch(/^:([0-9A-F]{2})+\r\n$/);
        expect(framing.decode(adu)).toEqual({ transactionId: 0, unitId, pdu });
        expect(framing.fields(adu)).toEqual({ transactionId: 0, unitId, pdu });
      }),
    );
  });

  it('has at most 513 characters, as the specification says', () => {
    const longest = framing.encode({ unitId: 1, pdu: new Uint8Array(253) });
    expect([longest.length, MAX_ASCII_LENGTH]).toEqual([513, 513]);
    expect(framing.decode(longest)?.pdu).toHaveLength(253);
    expect(framing.decode(framing.encode({ unitId: 1, pdu: new Uint8Array(254) }))).toBeUndefined();
  });

  it('has at least a function code', () => {
    expect(framing.decode(bytes(':01FF\r\n'))).toBeUndefined();
    expect(framing.fields(bytes(':01FF\r\n'))).toBeUndefined();
    expect(framing.decode(bytes(':0107F8\r\n'))).toEqual(content(1, '07'));
  });

  it('may have lower-case digits', () => {
    expect(framing.decode(bytes(':110f0013000a02cD01f3\r\n'))).toEqual(content(17, '0F 0013 000A 02 CD01'));
  });

  it('holds copies: what is done to its bytes later does not matter', () => {
    const adu = bytes(':010302010001F8\r\n');
    const decoded = framing.decode(adu);
    adu.fill(0);
    expect(decoded).toEqual(content(1, '03 0201 0001'));
  });

  it.each([
    ['a wrong LRC', ':010302010001F9\r\n'],
    ['a wrong digit', ':010302010011F8\r\n'],
    ['a character that is not a digit', ':01030201000GF8\r\n'],
    ['a digit whose bit 7 is set', ':\xb1\xb00302010001F8\r\n'],
    ['blanks', ':01 03 02 01 00 01 F8\r\n'],
    ['an odd number of digits', ':010302010001F80\r\n'],
    ['no colon', '010302010001F8\r\n'],
    ['another beginning', ';010302010001F8\r\n'],
    ['two colons', '::010302010001F8\r\n'],
    ['no line feed', ':010302010001F8\r'],
    ['no carriage return', ':010302010001F8\n'],
    ['another delimiter', ':010302010001F8\r\t'],
    ['something before it', ' :010302010001F8\r\n'],
    ['something behind it', ':010302010001F8\r\n\n'],
    ['two messages', ':010302010001F8\r\n:010302010001F8\r\n'],
    ['nothing', ''],
    ['the ends alone', ':\r\n'],
  ])('is none with %s', (_what, message) => {
    expect(framing.decode(bytes(message))).toBeUndefined();
  });

  it('is none with any one bit flipped, but for the case of a letter', () => {
    const adu = bytes(':1103006B00037E\r\n');
    for (let bit = 0; bit < 8 * adu.length; bit++) {
      const flipped = adu.map((character, i) => (i === bit >> 3 ? character ^ (1 << (bit & 7)) : character));
      const isCase = bit % 8 === 5 && /[A-F]/.test(String.fromCharCode(adu[bit >> 3] as number));
      expect(framing.decode(flipped) !== undefined, `bit ${bit}`).toBe(isCase);
    }
  });
});

describe('the fields of a damaged ASCII message', () => {
  it.each([
    ['a wrong LRC', ':0183027B\r\n'],
    ['another delimiter', ':0183027A\r!'],
    ['another beginning', 'x0183027A\r\n'],
    ['no carriage return', ':0183027A\x0c\n'],
    ['a digit too many', ':0183027A0\r\n'],
  ])('are read in spite of %s', (_what, message) => {
    expect(framing.fields(bytes(message))).toEqual(content(1, '83 02'));
  });

  it('are of some value where a character is no digit', () => {
    const fields = framing.fields(bytes(':0183\x00\xff7A\r\n'));
    expect(fields && [fields.unitId, hexOf(fields.pdu).slice(0, 2), fields.pdu.length]).toEqual([1, '83', 2]);
  });

  it('are never more than what they came from', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (adu) => {
        const fields = framing.fields(adu);
        expect(fields === undefined).toBe(adu.length < 9);
        if (fields) expect(framing.encode(fields).length).toBeLessThanOrEqual(adu.length);
      }),
    );
  });
});

describe('another LRC', () => {
  const inverted = (check: readonly number[]) => check.map((byte) => byte ^ 0xff);

  it('takes the place of the one there is, and nothing else', () => {
    const rechecked = framing.recheck(bytes(';01g302\xff1001f8?!'), (check) => {
      expect(check).toEqual([0xf8]);
      return [0x0a];
    });
    expect(text(rechecked)).toBe(';01g302\xff10010A?!');
  });

  it('is again the old one when it is changed back', () => {
    const adu = framing.encode(content(17, '03 006B 0003'));
    const once = framing.recheck(adu, inverted) as Uint8Array;
    expect(framing.decode(once)).toBeUndefined();
    expect(framing.recheck(once, inverted)).toEqual(adu);
  });

  it('has no place in less than four characters', () => {
    expect(framing.recheck(bytes('F8\r'), inverted)).toBeUndefined();
    expect(text(framing.recheck(bytes('F8\r\n'), inverted))).toBe('07\r\n');
  });
});

describe('a delimiter', () => {
  it('ends what is made and what is read, as long as it is in force', () => {
    const changed = new AsciiFraming(0x21);
    expect(text(changed.encode(content(17, '03 006B 0003')))).toBe(':1103006B00037E\r!');
    expect(changed.decode(bytes(':1103006B00037E\r!'))).toEqual(content(17, '03 006B 0003'));
    expect(changed.decode(bytes(':1103006B00037E\r\n'))).toBeUndefined();
    const usual = changed.withDelimiter(LINE_FEED);
    expect(usual?.decode(bytes(':1103006B00037E\r\n'))).toEqual(content(17, '03 006B 0003'));
  });

  it('leaves the framing as it is that has another one', () => {
    expect(framing.withDelimiter(0x21)?.delimiter).toBe(0x21);
    expect(framing.delimiter).toBe(LINE_FEED);
    expect(framing.withDelimiter(LINE_FEED)).toBe(framing);
    expect(framing.withDelimiter(COLON)).toBeUndefined();
  });

  it('is any character of seven bits that is not in a message already', () => {
    for (let character = 0; character < 256; character++) {
      const digit = '0123456789ABCDEFabcdef'.includes(String.fromCharCode(character));
      expect(isHexDigit(character), `${character}`).toBe(digit);
      const inMessages = digit || character === COLON || character === CARRIAGE_RETURN;
      expect(mayDelimit(character), `${character}`).toBe(character < 128 && !inMessages);
    }
  });
});
