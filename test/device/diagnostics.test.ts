import { beforeEach, describe, expect, it } from 'vitest';
import type { Activity } from '../../src/device/diagnostics.js';
import { AsciiFraming } from '../../src/modbus/protocol/ascii.js';
import { type Framing, RTU } from '../../src/modbus/protocol/framing.js';
import { Station } from '../../src/simulator/bus/station.js';
import { bytesOf, hexOf } from '../modbus/protocol/hex.js';
import { deviceOf, quietLine } from './build.js';

const READ = '03 0000 0001';
const READ_NOTHING = '03 0000 0000';
const WRITE = '06 0000 0007';
const LISTEN_ONLY = '08 0004 0000';
const RESTART = '08 0001 0000';
const RESTART_AND_CLEAR_LOG = '08 0001 FF00';
const CLEAR = '08 000A 0000';
const EVENT_COUNTER = '0B';
const EVENT_LOG = '0C';

let activity: Activity;
let station: Station;
/** The line's, as its last station left it. */
let framing: Framing;

beforeEach(() => {
  activity = { messages: 0, errors: 0, overruns: 0 };
  station = new Station(deviceOf({ holding: [{ address: 0 }] }, { size: 4 }), activity);
  framing = RTU;
});

/** What a line does with a request to this station: counts it and has it processed. The response as hex. */
function ask(request: string, { broadcast = false } = {}): string | undefined {
  activity.messages++;
  const pdu = bytesOf(request);
  if (broadcast) station.broadcast(pdu, framing, new Map());
  const response = broadcast ? undefined : station.process(pdu, framing);
  framing = station.framing ?? framing;
  return response && hexOf(response);
}

function broadcast(request: string): void {
  expect(ask(request, { broadcast: true })).toBeUndefined();
}

const COUNTERS = {
  busMessages: 11,
  crcErrors: 12,
  exceptions: 13,
  serverMessages: 14,
  noResponse: 15,
  nak: 16,
  busy: 17,
  overruns: 18,
} as const;

type Counter = keyof typeof COUNTERS;

function counter(name: Counter): number {
  const response = ask(`08 00${COUNTERS[name].toString(16).padStart(2, '0')} 0000`) ?? '';
  expect(response.slice(0, 6)).toBe(`0800${COUNTERS[name].toString(16).padStart(2, '0')}`);
  return Number.parseInt(response.slice(6), 16);
}

/** Events of the log, the newest first, without the receive event that asking for it makes. */
function events(): string[] {
  const [, , , , , , , , ...bytes] = bytesOf(ask(EVENT_LOG) ?? '');
  expect(bytes[0]).toBe(0x80);
  return bytes.slice(1).map((byte) => byte.toString(16).padStart(2, '0'));
}

describe('counters (6.8; Modbus over Serial Line V1.02, annex on diagnostic counters)', () => {
  it('are 0 at first, but for the message that asks', () => {
    const expected: [Counter, number][] = [
      ['crcErrors', 0],
      ['exceptions', 0],
      ['noResponse', 0],
      ['nak', 0],
      ['busy', 0],
      ['overruns', 0],
    ];
    for (const [name, value] of expected) expect(counter(name), name).toBe(value);
    // the six before, and itself
    expect(counter('busMessages')).toBe(7);
    expect(counter('serverMessages')).toBe(8);
  });

  it('count every message on the line, and apart those for this server', () => {
    activity.messages += 5;
    ask(READ);
    broadcast(WRITE);
    expect(counter('busMessages')).toBe(8);
    expect(counter('serverMessages')).toBe(4);
  });

  it('count exception responses, and the errors of broadcasts, which have none', () => {
    ask(READ_NOTHING);
    ask('63');
    broadcast('06 0003 0001');
    expect(counter('exceptions')).toBe(3);
  });

  it('count broadcasts and what else has no response', () => {
    broadcast(WRITE);
    broadcast('06 0003 0001');
    ask(READ_NOTHING);
    expect(counter('noResponse')).toBe(2);
  });

  it('count what was no frame and what the UART lost, on the whole line', () => {
    activity.errors += 3;
    activity.overruns += 2;
    expect(counter('crcErrors')).toBe(3);
    expect(counter('overruns')).toBe(2);
  });

  it('begin when the server does, not when the line does', () => {
    station = new Station(deviceOf({}, { size: 4 }), { messages: 1000, errors: 50, overruns: 7 });
    expect(counter('busMessages')).toBe(0);
    expect([counter('crcErrors'), counter('overruns')]).toEqual([0, 0]);
  });

  it('wrap at 65536 like any 16-bit counter', () => {
    activity.messages += 0xffff;
    activity.errors += 0x10003;
    expect(counter('busMessages')).toBe(0);
    expect(counter('crcErrors')).toBe(3);
  });

  it.each([
    ['clear counters', CLEAR],
    ['a restart', RESTART],
    ['a restart that clears the log', RESTART_AND_CLEAR_LOG],
  ])('are all 0 after %s, which does not count itself', (_, request) => {
    activity.messages += 5;
    activity.errors += 3;
    activity.overruns += 2;
    ask(READ);
    ask(READ_NOTHING);
    broadcast(WRITE);
    expect(ask(request)).toBe(hexOf(bytesOf(request)));
    expect(ask(EVENT_COUNTER)).toBe('0b00000000');
    expect(counter('busMessages')).toBe(2);
    expect(counter('serverMessages')).toBe(3);
    for (const name of ['crcErrors', 'exceptions', 'noResponse', 'nak', 'busy', 'overruns'] as const) {
      expect(counter(name), name).toBe(0);
    }
  });

  it('lose the overruns alone with sub-function 20', () => {
    activity.errors += 3;
    activity.overruns += 2;
    ask(READ);
    expect(ask('08 0014 0000')).toBe('0800140000');
    expect(counter('overruns')).toBe(0);
    expect(counter('crcErrors')).toBe(3);
    expect(counter('busMessages')).toBe(5);
    activity.overruns++;
    expect(counter('overruns')).toBe(1);
  });

  it('are not touched by requests that are refused', () => {
    activity.errors += 3;
    for (const refused of ['08 000A 0001', '08 0001 0001', '08 0014 0001']) {
      expect(ask(refused)).toBe('8803');
    }
    expect(counter('crcErrors')).toBe(3);
    expect(counter('exceptions')).toBe(3);
  });

  it('belong to the unit: another one on the same line has its own', () => {
    const other = new Station(station.device, activity);
    activity.messages++;
    other.process(bytesOf(READ_NOTHING), framing);
    expect(counter('busMessages')).toBe(2);
    expect(counter('exceptions')).toBe(0);
    ask(CLEAR);
    activity.messages++;
    const exceptions = other.process(bytesOf('08 000D 0000'), framing);
    expect(exceptions && hexOf(exceptions)).toBe('08000d0001');
  });
});

describe('the comm event counter (6.9)', () => {
  it('counts successes, not exceptions and not requests for events', () => {
    ask(READ);
    ask(READ_NOTHING);
    ask(EVENT_COUNTER);
    ask(EVENT_LOG);
    ask('08 0000 1234');
    expect(ask(EVENT_COUNTER)).toBe('0b00000002');
    expect(ask(EVENT_COUNTER)).toBe('0b00000002');
  });

  it('counts a broadcast that was executed, and none that failed', () => {
    broadcast(WRITE);
    broadcast('06 0003 0001');
    expect(ask(EVENT_COUNTER)).toBe('0b00000001');
  });

  it('shows whether a series of requests was handled normally: before and after it', () => {
    const count = () => Number.parseInt(ask(EVENT_COUNTER)?.slice(6) ?? '', 16);
    const before = count();
    for (let i = 0; i < 10; i++) ask(i === 4 ? READ_NOTHING : READ);
    expect(count() - before).toBe(9);
  });
});

describe('the comm event log (6.10)', () => {
  it('begins with the event of the request for it', () => {
    expect(ask(EVENT_LOG)).toBe('0c0700000000000180');
  });

  it('has the counts that function 11 and sub-function 11 return', () => {
    activity.messages += 0x120;
    for (let i = 0; i < 3; i++) ask(READ);
    expect(ask(EVENT_LOG)?.slice(0, 16)).toBe('0c0d000000030124');
  });

  it('has a receive event and a send event of each request, the newest first', () => {
    ask(READ);
    ask(READ_NOTHING);
    expect(events()).toEqual(['41', '80', '40', '80']);
  });

  it.each([
    ['40', [0, 8, 9, 10, 11, 128, 255]],
    ['41', [1, 2, 3]],
    ['42', [4]],
    ['44', [5, 6]],
    ['48', [7]],
  ])('has the send event %s of the exceptions %j, which a fault rule may send', (event, codes) => {
    for (const code of codes) {
      station.stoodIn(Uint8Array.of(0x83, code), framing);
      expect(events().slice(0, 2), `exception ${code}`).toEqual([event, '80']);
    }
  });

  it('keeps 64 events and drops the oldest', () => {
    ask(READ_NOTHING);
    for (let i = 0; i < 31; i++) ask(READ);
    // 31 successes and the send event of the exception, besides the request's own event
    expect(events()).toEqual([...Array(31).fill(['40', '80']).flat(), '41']);
    expect(bytesOf(ask(EVENT_LOG) ?? '')).toHaveLength(2 + 6 + 64);
    ask(READ);
    expect(events()).not.toContain('41');
  });

  it('says that a broadcast came, and that nothing was sent to it although it failed', () => {
    broadcast(WRITE);
    broadcast('06 0003 0001');
    expect(events()).toEqual(['40', 'c0', '40', 'c0']);
  });

  it('says that there were communication errors or lost characters before a request, once', () => {
    activity.errors++;
    ask(READ);
    activity.overruns++;
    ask(READ);
    activity.errors++;
    activity.overruns++;
    ask(READ);
    ask(READ);
    expect(events()).toEqual(['40', '80', '40', '92', '40', '90', '40', '82']);
  });

  it('stays in a restart, which is an event, and is gone when the restart clears it', () => {
    ask(READ);
    ask(RESTART);
    expect(events()).toEqual(['00', '40', '80', '40', '80']);
    ask(RESTART_AND_CLEAR_LOG);
    expect(events()).toEqual(['00']);
  });

  it('stays when the counters are cleared', () => {
    ask(READ);
    ask(CLEAR);
    expect(events()).toEqual(['40', '80', '40', '80']);
  });
});

describe('listen-only mode (6.8, sub-function 4)', () => {
  it('has no response, not to entering it and to nothing after that', () => {
    expect(ask(LISTEN_ONLY)).toBeUndefined();
    for (const request of [READ, READ_NOTHING, EVENT_LOG, LISTEN_ONLY, CLEAR, '08 0000 1234', '63', '']) {
      expect(ask(request), request).toBeUndefined();
    }
  });

  it('does nothing that it is asked, not even in a broadcast', () => {
    ask(LISTEN_ONLY);
    ask(WRITE);
    broadcast(WRITE);
    ask(RESTART);
    expect(ask(READ)).toBe('03020000');
  });

  it.each([RESTART, RESTART_AND_CLEAR_LOG])('is left by the restart %s, without a response', (request) => {
    ask(LISTEN_ONLY);
    expect(ask(request)).toBeUndefined();
    expect(ask(READ)).toBe('03020000');
  });

  it('is entered and left by broadcasts as well', () => {
    broadcast(LISTEN_ONLY);
    expect(ask(READ)).toBeUndefined();
    broadcast(RESTART);
    expect(ask(READ)).toBe('03020000');
  });

  it('is not left by a restart that is not right', () => {
    ask(LISTEN_ONLY);
    for (const request of ['08 0001', '08 0001 0001', '08 0001 FF00 0000', '08 0001 00']) {
      expect(ask(request), request).toBeUndefined();
      expect(ask(READ), request).toBeUndefined();
    }
  });

  it('is not entered by a request that is not right', () => {
    expect(ask('08 0004 0001')).toBe('8803');
    expect(ask('08 0004')).toBe('8803');
    expect(ask(READ)).toBe('03020000');
  });

  it('is in the log: entered, then messages heard in it, then the restart', () => {
    ask(LISTEN_ONLY);
    ask(READ);
    activity.errors++;
    broadcast(WRITE);
    ask(RESTART);
    expect(events()).toEqual(['00', '60', 'a0', 'e2', 'a0', '60', '04', '80']);
  });

  it('is one of the unit, not of the device: the same device still answers for another unit', () => {
    const other = new Station(station.device, activity);
    ask(LISTEN_ONLY);
    expect(other.process(bytesOf(READ), framing)).toBeDefined();
  });

  it('leaves counters at 0, as every restart does', () => {
    ask(READ);
    ask(LISTEN_ONLY);
    ask(READ);
    ask(RESTART);
    expect(counter('noResponse')).toBe(0);
    expect(counter('serverMessages')).toBe(2);
    expect(ask(EVENT_COUNTER)).toBe('0b00000002');
  });
});

describe('other diagnostics', () => {
  it('return the query data, as much as a PDU holds', () => {
    const data = Array.from({ length: 250 }, (_, i) => i.toString(16).padStart(2, '0')).join('');
    expect(ask(`08 0000 ${data}`)).toBe(`080000${data}`);
  });

  it('have a diagnostic register without any bits', () => {
    expect(ask('08 0002 0000')).toBe('0800020000');
  });

  it('refuse an ASCII delimiter on a line that has none', () => {
    for (const delimiter of ['0A', '21', '0D']) expect(ask(`08 0003 ${delimiter}00`)).toBe('8803');
    ask(RESTART);
    expect(framing.delimiter).toBeUndefined();
  });
});

describe('the delimiter of an ASCII line (6.8, sub-function 3)', () => {
  beforeEach(() => {
    framing = new AsciiFraming();
  });

  it.each([
    ['00', 0x00],
    ['09', 0x09],
    ['0A', 0x0a],
    ['21', 0x21],
    ['2f', 0x2f],
    ['47', 0x47],
    ['7f', 0x7f],
  ])('becomes %s, which the response repeats', (hex, delimiter) => {
    framing = new AsciiFraming(0x3b);
    expect(ask(`08 0003 ${hex}00`)).toBe(`080003${hex.toLowerCase()}00`);
    expect(framing.delimiter).toBe(delimiter);
  });

  it.each([
    ['a colon', '3A'],
    ['a carriage return', '0D'],
    ['the digit 0', '30'],
    ['the digit 9', '39'],
    ['the digit A', '41'],
    ['the digit F', '46'],
    ['the digit a', '61'],
    ['the digit f', '66'],
    ['what seven data bits do not carry', '80'],
    ['the same', 'FF'],
  ])('is not %s: no message could be read any more', (_what, hex) => {
    expect(ask(`08 0003 ${hex}00`)).toBe('8803');
    expect(framing.delimiter).toBe(0x0a);
    expect(counter('exceptions')).toBe(1);
  });

  it.each(['08 0003 000A', '08 0003 2121', '08 0003 21', '08 0003 2100 00'])(
    'stays when the request %s is not right',
    (request) => {
      expect(ask(request)).toBe('8803');
      expect(framing.delimiter).toBe(0x0a);
    },
  );

  it.each([RESTART, RESTART_AND_CLEAR_LOG])('is a line feed again after the restart %s', (request) => {
    ask('08 0003 2100');
    expect(ask(CLEAR)).toBeDefined();
    expect(framing.delimiter).toBe(0x21);
    ask(request);
    expect(framing.delimiter).toBe(0x0a);
  });

  it('is changed and set back by broadcasts as well', () => {
    broadcast('08 0003 2100');
    expect(framing.delimiter).toBe(0x21);
    broadcast(RESTART);
    expect(framing.delimiter).toBe(0x0a);
  });

  it('is not changed in listen-only mode, but set back by the restart that ends it', () => {
    ask('08 0003 2100');
    ask(LISTEN_ONLY);
    expect(ask('08 0003 2200')).toBeUndefined();
    expect(framing.delimiter).toBe(0x21);
    expect(ask(RESTART)).toBeUndefined();
    expect(framing.delimiter).toBe(0x0a);
  });

  it('is one of the line: every unit of it changes the same', () => {
    const other = new Station(station.device, activity);
    other.process(bytesOf('08 0003 2100'), framing);
    framing = other.framing ?? framing;
    expect(framing.delimiter).toBe(0x21);
    ask(RESTART);
    expect(framing.delimiter).toBe(0x0a);
  });

  it('counts as every success does', () => {
    ask('08 0003 2100');
    expect(ask(EVENT_COUNTER)).toBe('0b00000001');
    expect(events()).toEqual(['40', '80', '40', '80']);
  });
});

describe('exception status (6.7)', () => {
  const coils = [1, 0, 1, 1].map((value, i) => ({ address: 10 * i, value }));
  const status = (exceptionStatus: readonly number[] | undefined) => {
    const device = deviceOf({ coils }, { size: 100, ...(exceptionStatus && { exceptionStatus }) });
    station = new Station(device, activity);
    return ask('07');
  };

  it('is the mapped coils, the first in the least significant bit', () => {
    expect(status([0, 10, 20, 30])).toBe('070d');
    expect(status([30, 30, 30, 30, 30, 30, 30, 0])).toBe('07ff');
    expect(status([10, 10, 10, 10, 10, 10, 10, 30])).toBe('0780');
  });

  it('is 0 where nothing is mapped, or the coil is not there', () => {
    expect(status(undefined)).toBe('0700');
    expect(status([1, 99, 100, 65535])).toBe('0700');
  });

  it('is no read of the coils: it runs no actions and counts nothing', () => {
    const coil = { address: 0, value: 1, action: { name: 'increment' as const } };
    const device = deviceOf({ coils: [coil] }, { size: 1, exceptionStatus: [0] });
    station = new Station(device, activity);
    expect([ask('07'), ask('07')]).toEqual(['0701', '0701']);
    const { image } = device.tables.coils.window;
    expect([image.wordAt(0), image.reads.get(0)]).toEqual([1, 0]);
    expect(ask('01 0000 0001')).toBe('010100');
    expect(ask('07')).toBe('0700');
  });

  it('follows the coils', () => {
    status([0, 10]);
    ask('0F 0000 0001 01 00');
    ask('05 000A FF00');
    expect(ask('07')).toBe('0702');
  });
});

describe('the server identifier (6.13)', () => {
  it('has the run indicator between identifier and text', () => {
    const serverId = { id: [0x12, 0x34], running: false, additional: 'v1' };
    station = new Station(deviceOf({}, { size: 1, serverId }), activity);
    expect(ask('11')).toBe('1105123400' + '7631');
  });

  it('fits into a PDU when names fill their objects', () => {
    const long = 'n'.repeat(244);
    const identity = new Map([0, 1, 2].map((id) => [id, long]));
    station = new Station(deviceOf({}, { size: 1, identity }), activity);
    const response = bytesOf(ask('11') ?? '');
    expect(response).toHaveLength(253);
    expect([...response.slice(0, 5)]).toEqual([0x11, 251, 0, 0xff, 0x6e]);
  });
});

it('exceptions are counted, those that say busy or no by themselves', () => {
  const diagnostics = quietLine();
  for (const code of [2, 6, 6, 6, 7]) diagnostics.processed(Uint8Array.of(0x83, code), true);
  const count = (name: Counter) => {
    const data = diagnostics.execute(COUNTERS[name], Uint8Array.of(0, 0));
    return data instanceof Uint8Array ? hexOf(data) : data;
  };
  expect([count('exceptions'), count('busy'), count('nak')]).toEqual(['0005', '0003', '0001']);
});
