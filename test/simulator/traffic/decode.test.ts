import { describe, expect, it } from 'vitest';
import { AsciiFraming } from '../../../src/modbus/protocol/ascii.js';
import { type Framing, RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { FunctionCode } from '../../../src/modbus/protocol/function-code.js';
import { notAchieved, silence } from '../../../src/modbus/protocol/reply-plan.js';
import { decodeEvent } from '../../../src/simulator/traffic/decode.js';
import type { NoticeEvent, TrafficEvent } from '../../../src/simulator/traffic/event.js';
import { adu, bytesOf, frameEvent, replyEvent, sendPlan } from './events.js';

const NOTHING = () => undefined;

const textOf = (event: TrafficEvent) => decodeEvent(event, NOTHING).text;

/** Request, what it is told as, response, what that is told as. */
const FUNCTIONS: readonly (readonly [string, string, string, string])[] = [
  ['01 0013 000a', 'read coils 19–28', '01 02 cd01', 'read coils 19–28: 1 0 1 1 0 0 1 1 1 0'],
  ['02 00c4 0003', 'read discrete inputs 196–198', '02 01 05', 'read discrete inputs 196–198: 1 0 1'],
  ['03 0000 0002', 'read holding registers 0–1', '03 04 0001 0100', 'read holding registers 0–1: 1 256'],
  ['04 0008 0001', 'read input registers 8', '04 02 000a', 'read input registers 8: 10'],
  ['05 00ac ff00', 'write single coil 172: on', '05 00ac ff00', 'write single coil 172: on'],
  ['06 0001 0003', 'write single register 1: 3', '06 0001 0003', 'write single register 1: 3'],
  ['07', 'read exception status', '07 6d', 'read exception status: 6d'],
  [
    '08 0000 a537',
    'diagnostics, return query data: a5 37',
    '08 0000 a537',
    'diagnostics, return query data: a5 37',
  ],
  [
    '08 000b 0000',
    'diagnostics, return bus message count',
    '08 000b 000c',
    'diagnostics, return bus message count: 12',
  ],
  [
    '08 0003 3b00',
    'diagnostics, change ASCII input delimiter: 3b 00',
    '08 0003 3b00',
    'diagnostics, change ASCII input delimiter: 3b 00',
  ],
  ['0b', 'get comm event counter', '0b ffff 0108', 'get comm event counter: busy, 264 events'],
  [
    '0c',
    'get comm event log',
    '0c 08 0000 0108 0121 20 00',
    'get comm event log: ready, 264 events, 289 messages, log 20 00',
  ],
  [
    '0f 0013 000a 02 cd01',
    'write multiple coils 19–28: 1 0 1 1 0 0 1 1 1 0',
    '0f 0013 000a',
    'write multiple coils 19–28: done',
  ],
  [
    '10 0001 0002 04 000a 0102',
    'write multiple registers 1–2: 10 258',
    '10 0001 0002',
    'write multiple registers 1–2: done',
  ],
  ['11', 'report server ID', '11 03 45 58 ff', 'report server ID: 45 58 ff'],
  [
    '14 0e 06 0004 0001 0002 06 0003 0009 0001',
    'read file record, file 4 records 1–2, file 3 record 9',
    '14 0a 05 06 0dfe 0020 03 06 33cd',
    'read file record, file 4 records 1–2: 3582 32, file 3 record 9: 13261',
  ],
  [
    '15 0b 06 0004 0007 0002 06af 04be',
    'write file record, file 4 records 7–8: 1711 1214',
    '15 0b 06 0004 0007 0002 06af 04be',
    'write file record, file 4 records 7–8: 1711 1214',
  ],
  [
    '16 0004 00f2 0025',
    'mask write register 4: and 00f2, or 0025',
    '16 0004 00f2 0025',
    'mask write register 4: and 00f2, or 0025',
  ],
  [
    '17 0003 0002 000e 0001 02 00ff',
    'read/write multiple registers, read 3–4, write 14: 255',
    '17 04 00fe 0acd',
    'read/write multiple registers, read 3–4: 254 2765',
  ],
  ['18 04de', 'read FIFO queue 1246', '18 0006 0002 01b8 1284', 'read FIFO queue 1246: 440 4740'],
  [
    '2b 0e 01 00',
    'read device identification, basic from object 0',
    '2b 0e 01 01 00 00 02 00 02 4578 01 01 31',
    'read device identification: vendor name "Ex", product code "1"',
  ],
];

describe('in words', () => {
  it('all nineteen functions are tested', () => {
    const tested = new Set(FUNCTIONS.map(([request]) => bytesOf(request)[0]));
    expect([...tested]).toEqual(Object.values(FunctionCode));
  });

  describe.each([RTU, SOCKET, new AsciiFraming()])('in $name framing', (framing) => {
    it.each(FUNCTIONS)('%s is "%s", %s is "%s"', (request, asked, response, answered) => {
      expect(textOf(frameEvent(request, { framing }))).toBe(`unit 17 ${asked}`);
      expect(textOf(replyEvent(request, response, { framing }))).toBe(`unit 17 ${answered}`);
    });
  });

  it.each([
    ['03 0000 000a', '83 02', 'read holding registers 0–9: exception 02 illegal data address'],
    ['10 0000 0001 02 0000', '90 04', 'write multiple registers 0: exception 04 server device failure'],
    ['03 0000 0001', '83 63', 'read holding registers 0: exception 63'],
    ['03 0000 0001', '83', 'read holding registers 0: exception without a code'],
    ['41', 'c1 01', 'function 65: exception 01 illegal function'],
  ])('an exception has its name: %s, %s', (request, response, text) => {
    expect(textOf(replyEvent(request, response))).toBe(`unit 17 ${text}`);
  });

  it.each([
    // Padding bits are shown where fewer values came than were asked for.
    ['01 0000 0009', '01 01 05', 'read coils 0–8: 1 0 1 0 0 0 0 0'],
    // The reply to another function says nothing about addresses.
    ['03 0000 0001', '01 01 05', 'read coils: 1 0 1 0 0 0 0 0'],
    ['03 0000 0001', '41 aa', 'function 65: aa'],
    ['2b 0e 01 00', '2b 0d aa', 'encapsulated interface transport: 0d aa'],
    ['2b 0e 01 00', '2b 0e', 'read device identification: no objects'],
    ['14 07 06 0004 0001 0001', '14 00', 'read file record, no records'],
    ['18 0000', '18 0002 0000', 'read FIFO queue 0: empty'],
  ])('a response that does not fit is told as it is: %s, %s', (request, response, text) => {
    expect(textOf(replyEvent(request, response))).toBe(`unit 17 ${text}`);
  });

  it.each([
    [
      '03 0000 007e',
      'read holding registers address 0 quantity 126, not a valid request (exception 03 illegal data value)',
    ],
    ['41', 'function 65, not a valid request (exception 01 illegal function)'],
    ['08 0063 0000', 'diagnostics, not a valid request (exception 01 illegal function)'],
    ['2b 0d', 'encapsulated interface transport, not a valid request (exception 01 illegal function)'],
  ])('a wrong request is told with the exception it deserves: %s', (pdu, text) => {
    expect(textOf(frameEvent(pdu))).toBe(`unit 17 ${text}`);
  });

  it('of more than 128 values the first are shown', () => {
    expect(textOf(replyEvent('01 0000 00c8', `01 19 ${'00'.repeat(25)}`))).toBe(
      `unit 17 read coils 0–199: ${'0 '.repeat(128)}… 72 more`,
    );
  });
});

describe('whose frame it is', () => {
  const READ = '03 0000 0001';

  it.each([
    ['broadcast', '06 0001 0003', 'broadcast write single register 1: 3'],
    ['foreign request', READ, 'unit 17 (not ours) read holding registers 0'],
    ['foreign response', '03 02 0007', 'unit 17 (not ours) read holding registers: 7'],
    ['duplicate', '03 02 0007', 'unit 17 (another device) read holding registers: 7'],
    ['dropped', READ, 'unit 17 read holding registers 0, not executed: a reply is pending'],
  ] as const)('%s', (kind, pdu, text) => {
    expect(textOf(frameEvent(pdu, { kind }))).toBe(text);
  });

  it('a response between others has the addresses of its request', () => {
    const asked = frameEvent('03 0064 0001', { kind: 'foreign request', seq: 8 });
    const answer = frameEvent('03 02 0007', { kind: 'foreign response', answers: { seq: 8, after: 5 } });
    const decoded = decodeEvent(answer, (seq) => (seq === 8 ? asked : undefined));
    expect(decoded.text).toBe('unit 17 (not ours) read holding registers 100: 7');
    expect(decoded.message).toMatchObject({ address: 100, quantity: 1, values: [7] });
  });
});

describe('what the frame says', () => {
  it.each(FUNCTIONS.slice(0, 4))('of %s address, quantity and values', (request, _, response) => {
    const { message } = decodeEvent(replyEvent(request, response), NOTHING);
    const pdu = bytesOf(request);
    expect(message).toMatchObject({
      functionCode: pdu[0],
      address: (pdu[1] as number) * 256 + (pdu[2] as number),
    });
    expect(message?.values).toHaveLength(message?.quantity as number);
  });

  it.each([
    ['05 00ac ff00', [1]],
    ['06 0001 0003', [3]],
    ['0f 0013 0003 01 05', [1, 0, 1]],
    ['10 0001 0002 04 000a 0102', [10, 258]],
    ['17 0003 0002 000e 0001 02 00ff', [255]],
    ['03 0000 0001', undefined],
  ])('%s writes %j', (request, values) => {
    expect(decodeEvent(frameEvent(request), NOTHING).message?.values).toEqual(values);
  });

  it('an exception has its code and the function without the flag', () => {
    const { message } = decodeEvent(replyEvent('03 0000 000a', '83 02'), NOTHING);
    expect(message).toMatchObject({
      functionCode: 3,
      exception: 2,
      address: 0,
      quantity: 10,
      values: undefined,
    });
  });
});

describe('damage', () => {
  const damaged = (bytes: Uint8Array, framing: Framing) =>
    textOf({ ...frameEvent('03 0000 0001'), kind: 'damaged', isRest: false, bytes, framing });

  it('a wrong CRC is told with the right one, both as they are on the wire', () => {
    expect(damaged(bytesOf('01 03 0000 0002 1a2b'), RTU)).toBe('CRC error: 1a2b, expected c40b');
  });

  it('a right CRC is told as such, with what else can be wrong', () => {
    expect(damaged(bytesOf('01 03 0000 0002 c40b'), RTU)).toContain(
      'not a separate message, although its CRC is correct (8 bytes)',
    );
  });

  it('a wrong LRC likewise, in the characters on the wire', () => {
    const bytes = new TextEncoder().encode(':010300000002F8\r\n');
    expect(damaged(bytes, new AsciiFraming())).toBe('LRC error: F8, expected FA');
    const lower = new TextEncoder().encode(':010300000002f\x008\r\n');
    expect(damaged(lower, new AsciiFraming())).toMatch(/^LRC error: \?8, expected [0-9A-F]{2}$/);
  });

  it('a message with a right LRC and a wrong beginning has no LRC error', () => {
    const bytes = new TextEncoder().encode(';010300000002fa\r\n');
    expect(damaged(bytes, new AsciiFraming())).toBe('not a valid frame (17 bytes)');
  });

  it('a frame of another protocol than Modbus has its identifier named', () => {
    expect(damaged(bytesOf('0001 0001 0006 01 03 0000 0001'), SOCKET)).toBe(
      'not Modbus TCP: protocol identifier 1, expected 0',
    );
  });

  it.each([
    [bytesOf('01 03'), RTU],
    [new Uint8Array(300), RTU],
    [bytesOf('0001 0000 0005 01 03'), SOCKET],
  ])('bytes that are no frame are counted', (bytes, framing) => {
    expect(damaged(bytes, framing)).toBe(`not a valid frame (${bytes.length} bytes)`);
  });
});

describe('a reply', () => {
  const READ = '03 0000 0001';
  const piece = (bytes: Uint8Array, continues = false) =>
    ({ kind: 'bytes', waitMs: 0, bytes, continues }) as const;

  it('that was kept back says why', () => {
    const event = replyEvent(READ, '', { plan: silence('rule mute') });
    expect(textOf(event)).toBe('unit 17 read holding registers: no reply, rule mute');
  });

  it('of which nothing could be sent says why', () => {
    const report = { steps: [notAchieved(0, 0, 'no client has the line open')], ended: 'complete' } as const;
    expect(textOf(replyEvent(READ, '03 02 0001', { report }))).toBe(
      'unit 17 read holding registers: no reply, no client has the line open',
    );
  });

  it('with a wrong CRC says so', () => {
    const bytes = bytesOf('11 03 02 0001 0000');
    expect(textOf(replyEvent(READ, '', { plan: sendPlan(piece(bytes)) }))).toBe(
      'unit 17 read holding registers: CRC error: 0000, expected b847',
    );
  });

  it('that was cut says how much of it there is', () => {
    const cut = (request: string, response: string, count: number) =>
      textOf(replyEvent(request, '', { plan: sendPlan(piece(adu(response).subarray(0, count))) }));
    expect(cut('03 0000 000a', '03 14 0001 0002 0003 0004 0005 0006 0007 0008 0009 000a', 24)).toBe(
      'unit 17 read holding registers: 24 of 25 bytes',
    );
    expect(cut('06 0001 0002', '06 0001 0002', 6)).toBe('unit 17 write single register: 6 of 8 bytes');
    // With another byte count than was asked for, nobody knows how long it was to be.
    expect(cut(READ, '03 14 0001 0002 0003', 9)).toMatch(/CRC error/);
  });

  it('in pieces is one frame, and sent twice it is two', () => {
    const whole = adu('03 02 0001');
    const pieces = sendPlan(piece(whole.subarray(0, 3)), piece(whole.subarray(3), true));
    expect(textOf(replyEvent(READ, '', { plan: pieces }))).toBe('unit 17 read holding registers 0: 1');
    const twice = sendPlan(piece(whole), piece(whole));
    expect(textOf(replyEvent(READ, '', { plan: twice }))).toBe(
      'unit 17 read holding registers 0: 1, and 1 more frame',
    );
  });

  it('under another unit identifier shows that one', () => {
    const plan = sendPlan(piece(adu('03 02 0001', RTU, 5)));
    expect(textOf(replyEvent(READ, '', { plan }))).toBe('unit 5 read holding registers 0: 1');
  });

  it('in the framing of another line is no frame', () => {
    const bytes = adu('03 02 0001', RTU);
    expect(textOf(replyEvent(READ, '', { framing: SOCKET, plan: sendPlan(piece(bytes)) }))).toBe(
      'unit 17 read holding registers: not a valid frame (7 bytes)',
    );
  });

  it('a damaged RTU reply is not taken for one of Modbus TCP', () => {
    // These bytes of an RTU frame read as MBAP too: protocol identifier 0 and a length of 2.
    const plan = sendPlan(piece(bytesOf('01 03 0000 0002 c400')));
    expect(textOf(replyEvent(READ, '', { plan }))).toBe(
      'unit 17 read holding registers: CRC error: c400, expected c40b',
    );
  });
});

describe('the line itself', () => {
  const place = { seq: 1, line: 'bench', at: 0, time: 0 };

  it.each([
    ['open', '/dev/pts/3', 'line open: /dev/pts/3'],
    ['lost', 'unplugged', 'line lost: unplugged'],
    ['stopped', 'stopped', 'line stopped'],
  ] as const)('%s', (state, text, told) => {
    expect(textOf({ ...place, kind: 'line', state, text })).toBe(told);
  });

  it.each<[NoticeEvent['kind'], number, RegExp]>([
    ['echo', 1, /^echo: /],
    ['loop', 1, /^loop: /],
    ['collision', 1, /^collision: /],
    ['overrun', 3, /^overrun: the UART lost 3 characters$/],
    ['damaged characters', 1, /^1 character damaged on the wire/],
  ])('%s', (kind, count, told) => {
    expect(textOf({ ...place, kind, count, isRest: false })).toMatch(told);
  });

  it.each([
    ['began', 'a flaky meter', 'test 2 began: a flaky meter'],
    ['step', '1 polls: pass', 'test 2 step: 1 polls: pass'],
    ['over', 'a flaky meter: pass', 'test 2 is over: a flaky meter: pass'],
  ] as const)('a test %s', (state, text, told) => {
    expect(textOf({ ...place, kind: 'test', test: 2, state, text })).toBe(told);
  });

  it.each([
    ['client', '', 'client'],
    ['client', 'Operator', 'client: Operator'],
  ] as const)('%s %s', (kind, text, told) => {
    expect(textOf({ ...place, kind, client: '127.0.0.1:5', clientId: 1, text })).toBe(told);
  });

  it('a client that is rejected', () => {
    const event = { ...place, kind: 'client rejected', client: '127.0.0.1:5', clientId: 1 } as const;
    expect(textOf({ ...event, reason: 'limit', text: 'too many clients' })).toBe(
      'client rejected: too many clients',
    );
  });
});
