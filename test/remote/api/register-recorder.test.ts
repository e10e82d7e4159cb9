import { setTimeout } from 'node:timers/promises';
import { pino } from 'pino';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { momentOf } from '../../../src/common/schema/milliseconds.js';
import { LineMap } from '../../../src/remote/api/line-map.js';
import { recordRegisters } from '../../../src/remote/api/register-recorder.js';
import { LocalRpc } from '../../../src/remote/rpc/local-rpc.js';
import type { Rpc } from '../../../src/remote/rpc/rpc.js';
import { answeredAbout } from '../../../src/remote/web/recorded-registers.js';
import type { Words } from '../../../src/simulator/commands/schemas/value.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import type { FrameEvent } from '../../../src/simulator/traffic/event.js';
import { isoTime } from '../../../src/simulator/traffic/words.js';
import { newTestContext } from '../../../src/testing/commands.js';
import type { RecordedRegisters } from '../../../src/testing/report/recorded-registers.js';
import { frameEvent } from '../../simulator/traffic/events.js';
import { nativeSetup } from '../../support/configuration.js';

const still = {
  registers: {
    coils: [{ address: 3, value: 1, name: 'valve', write: true }],
    holding: [
      { address: 0, value: [1, 2], write: true },
      { address: 600, type: 'float32', value: 230.1, name: 'voltage', unit: 'V' },
    ],
  },
};
const moving = {
  registers: {
    input: [
      {
        address: 0,
        type: 'float32',
        name: 'speed',
        signal: { sine: { period: '1s', amplitude: 5, offset: 50 } },
      },
    ],
    holding: [{ address: 7, value: 1, write: true }],
  },
};
const large = { registers: { holding: [{ address: 0, value: Array.from({ length: 5000 }, () => 0) }] } };

const log = pino({ level: 'silent' });
const simulator = new Simulator(
  nativeSetup({
    devices: { still, moving, large },
    lines: { bench: { tcp: { port: 0 }, units: { 1: 'still', 2: 'moving', 3: 'large' } } },
  }),
  log,
);
const rpc = new LocalRpc(newTestContext(simulator, log));
const map = new LineMap(rpc, simulator.traffic);
const wallNow = () => performance.now() + simulator.traffic.offsetAt(performance.now());
const write = (device: string, address: number, words: number[], table: 'holding' | 'coils' = 'holding') =>
  rpc.call('value.change', { device, changes: [{ table, address, words, raw: true }] } as never);
const frames: FrameEvent[] = [];
const frame = (unitId: number) => {
  frames.push(frameEvent('03 0000 0001', { unitId, time: wallNow() }));
  // A time is rounded to µs, so what follows must be later.
  return setTimeout(2);
};

beforeAll(async () => {
  // A write is later than what made the device.
  await setTimeout(2);
  for (const value of [10, 20, 20, 30]) {
    for (const unit of [1, 2, 3]) await frame(unit);
    await write('still', 0, [value]);
    await write('still', 3, [value % 20 === 0 ? 1 : 0], 'coils');
    await write('moving', 7, [value]);
    await setTimeout(2);
  }
  await frame(2);
});

/** An answer without what a file does not know. */
function comparable(words: Words) {
  const { past, power: _, clock, values, ...others } = words;
  const { since: __, why, ...around } = past ?? {};
  return {
    ...others,
    ...{ around },
    values: values.map((value) => ({ ...value, reads: 0, writes: 0, lastWriter: null, saturated: 0 })),
  };
}

async function sameAsSimulator({ devices }: RecordedRegisters, name: string, time: number): Promise<void> {
  for (const table of [name === 'still' ? 'coils' : 'input', 'holding'] as const) {
    for (const from of [0, 590]) {
      const range = { table, from, to: from + 20 };
      const there = await rpc.call('value.words', { device: name, ...range, at: momentOf(isoTime(time)) });
      if (!there.ok) throw new Error(JSON.stringify(there));
      const query = new URLSearchParams({ table, from: `${from}`, to: `${from + 20}`, at: isoTime(time) });
      const here = answeredAbout(devices, [name, 'words'], query) as Words;
      const isNext = (here.past?.next ?? null) !== null;
      // The file ends with the last frame.
      const next = isNext ? {} : { next: null };
      expect(comparable(here)).toEqual({
        ...comparable(there.value),
        around: { ...comparable(there.value).around, ...next },
      });
    }
  }
}

describe('the registers in a report', () => {
  it('are those that the simulator shows for each frame and each write', async () => {
    const recorded = await recordRegisters(rpc, map, frames);
    expect(recorded.devices.map(({ device }) => device.name)).toEqual(['still', 'moving']);
    expect(recorded.missing).toEqual([
      'The registers of large are left out: 5000 registers need too much room.',
    ]);
    for (const { time } of frames) {
      await sameAsSimulator(recorded, 'still', time);
      await sameAsSimulator(recorded, 'moving', time);
    }
    const [still] = recorded.devices;
    for (const { at } of still?.states ?? []) await sameAsSimulator(recorded, 'still', momentOf(at));
  });

  it('go back from the end as far as there is room, and the file says from when on', async () => {
    const own = frames.filter(({ unitId }) => unitId === 2);
    const whole = await recordRegisters(rpc, map, own);
    const size = JSON.stringify(whole.devices[0]?.states).length;
    const { devices } = await recordRegisters(rpc, map, own, size / 2);
    const states = devices[0]?.states ?? [];
    expect(JSON.stringify(states).length).toBeLessThan(size);
    const since = states.at(-1)?.at ?? '';
    const at = isoTime(own[0]?.time ?? 0);
    expect([states[0]?.at, since > at]).toEqual([isoTime(own.at(-1)?.time ?? 0), true]);
    expect(answeredAbout(devices, ['moving', 'words'], new URLSearchParams({ at }))).toBe(
      `This file has the registers of moving only from ${since} on.`,
    );
  });

  it('are left out where the simulator does not know them, with its reason', async () => {
    const early = frames.slice(0, 1).map((each) => ({ ...each, time: each.time - 3_600_000 }));
    const { devices, missing } = await recordRegisters(rpc, map, early);
    expect(devices).toEqual([]);
    expect(missing[0]).toMatch(/^The registers of still are known only from .* on: the device was added at/);
  });

  it('are found by name', async () => {
    const { devices } = await recordRegisters(rpc, map, frames);
    const of = (names: string) =>
      answeredAbout(devices, ['still', 'registers'], new URLSearchParams({ names }));
    expect(of('voltage')).toMatchObject({ registers: [{ table: 'holding', address: 600 }] });
    expect(of('none')).toBe('still has no value named none.');
  });
});

describe('the limits of the registers in a report', () => {
  const TIMES = Array.from({ length: 20 }, (_, i) => 1_800_000_000_000 + i);
  /** Devices with as many reads for a state as their names say; a signal computes all of their values. */
  function recorded(names: readonly string[], isGone?: () => boolean, called = async () => {}) {
    const answers: Record<string, (input: { device: string; table: string; from: number }) => object> = {
      'device.get': ({ device }) => {
        const ranges = Array.from({ length: Number(device) }, (_, i) => [1000 * i, 1000 * i]);
        return { name: device, defined: { holding: { registers: ranges.length, ranges } } };
      },
      'value.words': ({ table, from }) => ({
        ...{ table, from, bits: 16, words: [0], access: 'r' },
        values: [{ address: from, signal: 'sine' }],
      }),
    };
    const call = async (name: string, input: never) => {
      await called();
      return { ok: true, value: answers[name]?.(input) };
    };
    const about = { devicesIn: async () => ({ names, times: TIMES }) };
    return recordRegisters({ call } as unknown as Rpc, about as unknown as LineMap, [], undefined, isGone);
  }
  const sinceOf = ({ devices }: RecordedRegisters) =>
    devices.map(({ device, states }) => [device.name, states.at(-1)?.at]);
  const [first, last] = [isoTime(TIMES[0] as number), isoTime(TIMES.at(-1) as number)];

  it('are shared: a device that needs few reads leaves its share to the others', async () => {
    const found = await recorded(['1', '600', '500', '15']);
    expect(sinceOf(found)).toEqual([
      ['1', first],
      ['600', last],
      ['15', first],
    ]);
    expect(found.missing).toEqual([
      'The registers of 500 are left out: the other devices used up the 1000 reads of a report.',
    ]);
  });

  it('are also of time, if the simulator is running', async () => {
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => clock.mockRestore());
    const found = await recorded(['1', '2'], () => {
      now += 2000;
      return false;
    });
    expect(sinceOf(found)).toEqual([['1', last]]);
    expect(found.missing).toEqual([
      'The registers of 2 are left out: the other devices used up the 5 s of a report.',
    ]);
  });

  it('end when the client has disconnected', async () => {
    let calls = 0;
    await recorded(
      ['1', '2'],
      () => calls >= 3,
      async () => void calls++,
    );
    // Four on a machine so slow that the time of the first device is over before.
    expect(calls).toBeLessThanOrEqual(4);
  });

  it('leave a running simulator alone after each answer for as long as it took', async () => {
    const times: [from: number, to: number][] = [];
    await recorded(
      ['1'],
      () => times.length >= 5,
      async () => {
        const from = performance.now();
        await setTimeout(10);
        times.push([from, performance.now()]);
      },
    );
    for (const [i, [from]] of times.slice(1).entries()) {
      const [begun, ended] = times[i] as [number, number];
      // A timer may be up to 1 ms early.
      expect(from - ended).toBeGreaterThanOrEqual(ended - begun - 2);
    }
  });
});
