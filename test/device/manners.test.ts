import { describe, expect, it } from 'vitest';
import { DependencyGraph } from '../../src/device/dependency-graph.js';
import type { Device } from '../../src/device/device.js';
import { type Connection, type Moment, TimedManners } from '../../src/device/manners.js';
import { mannersSchema } from '../../src/document/native/manners-schema.js';
import { bytesOf } from '../modbus/protocol/hex.js';
import { ask, deviceOf, quietLine } from './build.js';
import { run } from './registers/build.js';

const CONTENT = {
  holding: [
    { address: 0, value: 10 },
    { address: 1, value: 11 },
    { address: 3, value: 13 },
    { address: 10, type: 'uint32', value: 70000 },
  ],
  input: [{ address: 0, value: 99 }],
  coils: [
    { address: 0, value: 1 },
    { address: 1, value: 0 },
    { address: 3, value: 1 },
  ],
} as const;

function mannered(manners: object): Device {
  const device = deviceOf(CONTENT, { size: 64 });
  device.manners = mannersSchema.parse(manners);
  return device;
}

/** Undefined where the device does not answer. */
const silent = (device: Device, request: string) =>
  device.respond(bytesOf(request), quietLine()) === undefined;

describe('most', () => {
  it('refuses more registers or bits than so many, with the exception that is named', () => {
    const device = mannered({ most: { registers: 2, bits: 1, otherwise: 2 } });
    expect(ask(device, '03 0000 0002')).toBe('0304000a000b');
    expect(ask(device, '03 0000 0003')).toBe('8302');
    expect(ask(device, '01 0000 0002')).toBe('8102');
    expect(ask(device, '10 0000 0003 06 000000000000')).toBe('9002');
    expect(ask(device, '17 0000 0003 0000 0001 02 0001')).toBe('9702');
  });

  it('answers with exception 03 when nothing is said', () => {
    expect(ask(mannered({ most: { registers: 1 } }), '03 0000 0002')).toBe('8303');
  });

  it('does not answer, or answers with so many', () => {
    expect(silent(mannered({ most: { registers: 1, otherwise: 'silence' } }), '03 0000 0002')).toBe(true);
    const cuts = mannered({ most: { registers: 1, bits: 1, otherwise: 'cut' } });
    expect(ask(cuts, '03 0000 0002')).toBe('0302000a');
    expect(ask(cuts, '10 0000 0002 04 0001 0002')).toBe('1000000001');
    expect(ask(cuts, '0f 0000 0002 01 00')).toBe('0f00000001');
    expect(ask(cuts, '03 0000 0001')).toBe('03020001');
    expect(ask(cuts, '01 0000 0001')).toBe('010100');
    expect(cuts.tables.holding.readWords(1, 1)).toEqual([11]);
  });

  it('cuts the data of a write to what is left of it', () => {
    const device = deviceOf({ holding: run(0, 4), coils: run(0, 16, { value: 1 }) }, { size: 16 });
    device.manners = mannersSchema.parse({ most: { registers: 2, bits: 8, otherwise: 'cut' } });
    expect(ask(device, '10 0000 0003 06 000100020003')).toBe('1000000002');
    expect(device.tables.holding.readWords(0, 4)).toEqual([1, 2, 0, 0]);
    expect(ask(device, '0f 0000 0010 02 0000')).toBe('0f00000008');
    expect(device.tables.coils.readBits(7, 2)).toEqual([false, true]);
  });

  it('counts bits of discrete inputs, too, either range of function 23, and what is not limited not at all', () => {
    const device = mannered({ most: { registers: 9, bits: 1 } });
    expect(ask(device, '02 0000 0002')).toBe('8203');
    expect(ask(mannered({ most: { registers: 1 } }), '01 0000 0002')).toBe('010101');
    expect(ask(mannered({ most: { registers: 1 } }), '17 0000 0002 0000 0001 02 0001')).toBe('9703');
  });

  it('leaves a wrong quantity to the specification', () => {
    expect(ask(mannered({ most: { registers: 2, otherwise: 'silence' } }), '03 0000 007e')).toBe('8303');
  });
});

describe('holes', () => {
  it.each([
    ['exception', '03 0000 0004', '8302'],
    ['shift', '03 0000 0004', '0308000a000b000d0000'],
    ['shift', '03 0004 0001', '8302'],
    ['shift', '01 0002 0001', '8102'],
    [{ fill: 0xffff }, '03 0000 0004', '0308000a000bffff000d'],
    [{ unless: 'all' }, '03 0000 0004', '0308000a000b0000000d'],
    [{ unless: 'all' }, '03 0004 0002', '8302'],
    [{ fill: 7 }, '03 0004 0002', '030400070007'],
    [{ fill: 7 }, '03 ffff 0001', '03020007'],
    ['shift', '01 0000 0004', '010105'],
    [{ fill: 1 }, '01 0000 0004', '01010d'],
    [{ fill: 7 }, '03 0000 0002', '0304000a000b'],
    [{ fill: 7 }, '06 0002 0001', '8602'],
    [{ fill: 7 }, '17 0000 0004 0000 0001 02 0001', '9702'],
    [{ fill: 7 }, '03 ffff 0002', '8302'],
  ])('%j: %s gives %s', (holes, request, response) => {
    expect(ask(mannered({ holes }), request)).toBe(response);
  });

  it('silence: no answer to a read that touches one', () => {
    const device = mannered({ holes: 'silence' });
    expect(silent(device, '03 0000 0004')).toBe(true);
    expect(ask(device, '03 0000 0002')).toBe('0304000a000b');
    expect(ask(device, '03 0000 0001')).toBe('0302000a');
    expect(silent(device, '08 0004 0000')).toBe(true);
  });
});

describe('manners of functions and tables', () => {
  it('wholeValues: exception 02 for a part of a value', () => {
    const device = mannered({ wholeValues: true, holes: { fill: 0 } });
    expect(ask(device, '03 000a 0002')).toBe('030400011170');
    expect(ask(device, '03 000a 0001')).toBe('8302');
    expect(ask(device, '03 000b 0003')).toBe('8302');
    expect(ask(device, '10 000b 0001 02 0000')).toBe('9002');
  });

  it.each([
    ['single', '0600000007', '9001'],
    ['multiple', '8601', '1000000001'],
  ])('writes: %s', (writes, single, several) => {
    const device = mannered({ writes });
    expect(ask(device, '06 0000 0007')).toBe(single);
    expect(ask(device, '10 0000 0001 02 0007')).toBe(several);
    expect(ask(device, '16 0000 0000 0007')).toBe('9601');
  });

  it('sharedMemory: function 4 reads what function 3 reads', () => {
    const device = mannered({ sharedMemory: [['holding', 'input']] });
    expect(ask(device, '04 0000 0002')).toBe('0404000a000b');
    expect(ask(device, '06 0000 0008')).toBe('0600000008');
    expect(ask(device, '04 0000 0001')).toBe('04020008');
  });

  it('addresses: the first address of the file is 0 on the wire', () => {
    const device = mannered({ addresses: { first: 1 } });
    expect(ask(device, '03 0000 0001')).toBe('0302000b');
    expect(ask(device, '06 0002 0005')).toBe('0600020005');
    expect(device.tables.holding.readWords(3, 1)).toEqual([5]);
    expect(ask(mannered({ addresses: { first: { holding: 10 } } }), '03 0000 0002')).toBe('030400011170');
  });

  it('are known with the registers that they move, and are a change of the device', () => {
    const device = deviceOf(CONTENT, { size: 64 });
    expect([device.manners, device.stored, device.changes]).toEqual([undefined, undefined, 0]);
    const manners = mannersSchema.parse({
      sharedMemory: [['holding', 'input']],
      addresses: { first: { holding: 10 } },
    });
    device.manners = manners;
    expect([device.manners, device.changes]).toEqual([manners, 1]);
    expect(device.stored).toEqual({
      in: {
        coils: { source: 'coils', first: 0 },
        discrete: { source: 'discrete', first: 0 },
        input: { source: 'holding', first: 10 },
        holding: { source: 'holding', first: 10 },
      },
    });
    device.setClock({ speed: 2 }, 0);
    expect(device.changes).toBeGreaterThan(1);
    const { changes } = device;
    device.tables.holding.window.image.setWord(0, 1);
    expect(device.changes).toBe(changes + 1);
  });

  it('end when there are none any more', () => {
    const device = mannered({ writes: 'multiple', addresses: { first: 1 } });
    device.manners = undefined;
    expect(ask(device, '06 0000 0007')).toBe('0600000007');
  });
});

describe('manners that are about time', () => {
  const ANSWER = bytesOf('0302000a');
  const timedMannersOf = (manners: object) => new TimedManners(mannersSchema.parse(manners), 0);
  const at = (receivedAt: number, more: Partial<Moment> = {}): Moment => ({
    startedAt: receivedAt,
    receivedAt,
    quietSince: undefined,
    connection: undefined,
    ...more,
  });
  const since = (moment: number, requests = 1, afterLast?: number): Connection => ({
    since: moment,
    afterLast,
    requests,
  });

  it('sleeps: the first requests after a pause only wake the device', () => {
    const timed = timedMannersOf({ sleeps: { after: '30s', wakes: 2 } });
    const heard = [1_000, 40_000, 40_100, 40_200, 60_000, 90_001].map(
      (t) => timed.whyUnheard(at(t)) === undefined,
    );
    expect(heard).toEqual([true, false, false, true, true, false]);
  });

  it('sleeps: from the start on, and not yet when it was asked in time', () => {
    const timed = timedMannersOf({ sleeps: { after: '30s', wakes: 1 } });
    expect(timed.whyUnheard(at(30_000))).toBeUndefined();
    expect(timed.whyUnheard(at(60_001))).toBe('the device was asleep; the request woke it');
    let now = 0;
    const device = deviceOf(CONTENT, { size: 64, graph: new DependencyGraph(() => now) });
    device.manners = mannersSchema.parse({ sleeps: { after: '30s', wakes: 1 } });
    now = 100_000;
    device.restart();
    expect(device.timedManners?.whyUnheard(at(110_000))).toBeUndefined();
    device.restart();
    expect(device.timedManners?.whyUnheard(at(140_000))).toContain('asleep');
  });

  it('without any, hears all and is never late', () => {
    const timed = timedMannersOf({});
    const connection = since(5000, 1, 1);
    timed.connected(connection);
    expect(timed.answered(bytesOf('8302'), at(5001, { connection }))).toBe(0);
    expect(timed.whyUnheard(at(5002, { connection, quietSince: 5002 }))).toBeUndefined();
  });

  it('pauseBefore: counts from the last byte on the line to the first of the request', () => {
    const timed = timedMannersOf({ pauseBefore: '50ms' });
    expect(timed.whyUnheard(at(100))).toBeUndefined();
    expect(timed.whyUnheard(at(160, { startedAt: 149, quietSince: 100 }))).toContain('50 ms');
    expect(timed.whyUnheard(at(160, { startedAt: 150, quietSince: 100 }))).toBeUndefined();
  });

  it('hears a request that began before the last frame of another client ended, without pauseBefore', () => {
    const timed = timedMannersOf({});
    expect(timed.whyUnheard(at(160, { startedAt: 99, quietSince: 100 }))).toBeUndefined();
  });

  it('connectPause: silence, or deaf until the connection is closed', () => {
    const patient = timedMannersOf({ connectPause: '1s' });
    const connection = since(0);
    expect(patient.whyUnheard(at(999, { connection }))).toContain('1000 ms');
    expect(patient.whyUnheard(at(1000, { connection }))).toBeUndefined();
    const touchy = timedMannersOf({ connectPause: { for: '1s', otherwise: 'deaf' } });
    expect(touchy.whyUnheard(at(1000, { connection }))).toBeUndefined();
    const hasty = since(2000);
    expect(touchy.whyUnheard(at(2500, { connection: hasty }))).toContain('1000 ms');
    expect(touchy.whyUnheard(at(9000, { connection: hasty }))).toContain('ignores all requests');
    expect(touchy.whyUnheard(at(9000, { connection: since(7000) }))).toBeUndefined();
    expect(touchy.whyUnheard(at(9000))).toBeUndefined();
  });

  it.each([
    ['function', '8301'],
    ['address', '8302'],
    ['value', '8303'],
  ])('locksUp on %s: after the exception, for so long', (on, response) => {
    const timed = timedMannersOf({ locksUp: { on: [on], for: '60s' } });
    expect(timed.answered(bytesOf('8304'), at(0))).toBe(0);
    expect(timed.whyUnheard(at(1))).toBeUndefined();
    timed.answered(bytesOf(response), at(10));
    expect(timed.whyUnheard(at(60_009))).toBe('the device has locked up');
    expect(timed.whyUnheard(at(60_010))).toBeUndefined();
  });

  it('locksUp: on nothing else', () => {
    const timed = timedMannersOf({ locksUp: { on: ['address'], for: '60s' } });
    timed.connected(since(5000, 0, 1));
    timed.answered(bytesOf('8301'), at(5001));
    expect(timed.whyUnheard(at(5002))).toBeUndefined();
    const quick = timedMannersOf({ locksUp: { on: ['address', { reconnect: '1s' }], for: '60s' } });
    quick.connected(since(5000, 0));
    expect(quick.whyUnheard(at(5001))).toBeUndefined();
    quick.connected(since(6000, 0, 999));
    expect(quick.whyUnheard(at(6001))).toBe('the device has locked up');
  });

  it('locksUp on a quick connection, until its power is switched', () => {
    const device = deviceOf(CONTENT, { size: 64, graph: new DependencyGraph(() => 0) });
    device.manners = mannersSchema.parse({ locksUp: { on: [{ reconnect: '1s' }], for: 'power' } });
    device.timedManners?.connected(since(5000, 0, 1000));
    expect(device.timedManners?.whyUnheard(at(5001))).toBeUndefined();
    device.timedManners?.connected(since(5500, 0, 500));
    expect(device.timedManners?.whyUnheard(at(1e9))).toBe('the device has locked up');
    device.interrupt({ forMs: 0, bootMs: 0 });
    expect(device.timedManners?.whyUnheard(at(1e9))).toBeUndefined();
  });

  it('firstReply: late after the start, after a connection, or both', () => {
    const late = (on: string) => {
      const timed = timedMannersOf({ firstReply: { slow: '800ms', on } });
      const first = since(0);
      const answers = [
        at(1, { connection: first }),
        at(2, { connection: since(0, 2) }),
        at(3, { connection: since(0) }),
      ];
      return answers.map((moment) => timed.answered(ANSWER, moment));
    };
    expect(late('start')).toEqual([800, 0, 0]);
    expect(late('connect')).toEqual([800, 0, 800]);
    expect(late('both')).toEqual([800, 0, 800]);
    const connect = timedMannersOf({ firstReply: { slow: '800ms', on: 'connect' } });
    expect(connect.answered(ANSWER, at(1, { connection: since(0, 2) }))).toBe(0);
    const both = timedMannersOf({ firstReply: { slow: '800ms', on: 'both' } });
    expect([both.answered(ANSWER, at(1)), both.answered(ANSWER, at(2))]).toEqual([800, 0]);
  });
});

describe('the schema of manners', () => {
  it.each([
    [{ most: { registers: 0 } }, 'most.registers'],
    [{ most: { otherwise: 'nothing' } }, 'most.otherwise'],
    [{ holes: 'fill' }, 'holes'],
    [{ sharedMemory: [['holding', 'coils']] }, 'sharedMemory.0'],
    [{ sharedMemory: [['holding', 'holding']] }, 'sharedMemory.0'],
    [{ addresses: { first: 70000 } }, 'addresses.first'],
    [{ locksUp: { on: [], for: '1s' } }, 'locksUp.on'],
    [{ locksUp: { on: ['address'] } }, 'locksUp.for'],
    [{ sleeps: { after: '-1s' } }, 'sleeps.after'],
    [{ unknown: 1 }, ''],
  ])('refuses %j at %s', (manners, path) => {
    const result = mannersSchema.safeParse(manners);
    expect(result.error?.issues.map((issue) => issue.path.join('.'))).toContain(path);
  });
});
