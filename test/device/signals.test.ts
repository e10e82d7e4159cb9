import { describe, expect, it, vi } from 'vitest';
import { type PlacedSignal, Point } from '../../src/device/point.js';
import { nearestValue } from '../../src/device/registers/value.js';
import type { SignalDefinition, Track, TrackSource } from '../../src/device/signals/signal.js';
import { liveDevices } from './live.js';

const HOUR = 3_600_000;

/** Big-endian words of a float. */
function words(value: number): number[] {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return [view.getUint16(0), view.getUint16(2)];
}

const sine = { sine: { period: '10s', amplitude: 5, offset: 230 } };

describe('a device with signals', () => {
  it('answers with the value at the time of its clock', () => {
    const { read, wait } = liveDevices({
      meter: {
        input: [
          { address: 0, type: 'float32', signal: sine },
          { address: 2, scale: 0.1, signal: sine },
        ],
      },
    });
    expect(read('input', 0, 3)).toEqual([...words(230), 2300]);
    wait(2500);
    expect(read('input', 0, 3)).toEqual([...words(235), 2350]);
    wait(5000);
    // The second word of the first value alone.
    expect(read('input', 1, 2)).toEqual([words(225)[1], 2250]);
  });

  it('runs its clock at a speed', () => {
    const { read, wait, meter } = liveDevices({
      meter: { clock: { speed: 3600 }, input: [{ address: 0, signal: { counter: { perSecond: 1 } } }] },
    });
    wait(1000);
    expect(read('input', 0, 1)).toEqual([3600]);
    meter.setClock({ paused: true }, 0);
    wait(1000);
    expect(read('input', 0, 1)).toEqual([3600]);
    meter.setClock({}, 60_000);
    expect(read('input', 0, 1)).toEqual([3660]);
  });

  it('keeps a value within its type, and counts that', () => {
    const { read, meter } = liveDevices({
      meter: { input: [{ address: 0, name: 'a', type: 'int16', signal: { steps: [{ value: -40000 }] } }] },
    });
    expect(read('input', 0, 1)).toEqual([0x8000]);
    read('input', 0, 1);
    expect(meter.points.named.get('a')?.saturated).toBe(2);
  });

  it('adds up energy from power that is computed from other values', () => {
    const { read, wait } = liveDevices({
      meter: {
        input: [
          { address: 0, name: 'voltage', signal: { steps: [{ value: 230 }] } },
          { address: 1, name: 'current', scale: 0.1, value: 100 },
          { address: 2, name: 'power', signal: { expression: 'voltage * current' } },
          {
            address: 3,
            name: 'energy',
            type: 'uint32',
            signal: { counter: { integral: 'power', per: '1h' } },
          },
        ],
      },
    });
    expect(read('input', 2, 1)).toEqual([2300]);
    wait(3_600_000);
    expect(read('input', 3, 2)).toEqual([0, 2300]);
  });

  it('adds up a value that a client changes, as it was at each time, whoever reads when', () => {
    const { read, write, wait } = liveDevices({
      meter: {
        holding: [
          { address: 0, name: 'setpoint', value: 100, write: true },
          { address: 1, name: 'total', type: 'uint32', signal: { counter: { integral: 'setpoint' } } },
          { address: 3, name: 'twice', type: 'uint32', signal: { counter: { integral: 'double' } } },
          { address: 5, name: 'double', signal: { expression: 'setpoint * 2' } },
        ],
      },
    });
    wait(10_000);
    write(0, 0);
    wait(10_000);
    write(0, 50);
    wait(2000);
    expect(read('holding', 1, 4)).toEqual([0, 1100, 0, 2200]);
  });

  it('lets a client preset a counter', () => {
    const { read, write, wait } = liveDevices({
      meter: { holding: [{ address: 0, write: true, signal: { counter: { perSecond: 1 } } }] },
    });
    wait(5000);
    expect(read('holding', 0, 1)).toEqual([5]);
    write(0, 1000);
    wait(5000);
    expect(read('holding', 0, 1)).toEqual([1005]);
  });

  it('overwrites what a client writes to any other signal', () => {
    const { read, write } = liveDevices({
      meter: { holding: [{ address: 0, write: true, signal: { steps: [{ value: 7 }] } }] },
    });
    write(0, 1000);
    expect(read('holding', 0, 1)).toEqual([7]);
  });

  it('may depend on another device, at the same moment', () => {
    const { read, wait } = liveDevices({
      meter: { input: [{ address: 0, signal: { expression: 'source.count * 10' } }] },
      source: {
        clock: { speed: 2 },
        input: [{ address: 0, name: 'count', signal: { counter: { perSecond: 1 } } }],
      },
    });
    wait(3000);
    expect(read('input', 0, 1)).toEqual([60]);
  });

  it('has no value where the device that it depends on is gone', () => {
    const { read, graph } = liveDevices({
      meter: { input: [{ address: 0, signal: { expression: 'source.count * 10' } }] },
      source: { input: [{ address: 0, name: 'count', value: 7 }] },
    });
    expect(read('input', 0, 1)).toEqual([70]);
    graph.remove('source');
    graph.link();
    expect(read('input', 0, 1)).toEqual([0]);
  });

  it('moves coils, in the exception status too', () => {
    const { respond, wait } = liveDevices({
      meter: {
        coils: [{ address: 3, signal: { square: { period: '2s', amplitude: 0.5, offset: 0.5 } } }],
        exceptionStatus: [3],
      },
    });
    expect(respond([7])).toEqual([7, 1]);
    wait(1000);
    expect(respond([7])).toEqual([7, 0]);
    expect(respond([1, 0, 3, 0, 1])).toEqual([1, 1, 0]);
    wait(1000);
    expect(respond([1, 0, 3, 0, 1])).toEqual([1, 1, 1]);
  });

  it('gives each of several values of one entry random values of its own, the same at every start', () => {
    const setup = {
      meter: { input: [{ address: 0, quantity: 3, signal: { walk: { step: 100, min: 0, max: 60000 } } }] },
    };
    const [first, second] = [liveDevices(setup), liveDevices(setup)].map(({ read, wait }) => {
      wait(100_000);
      return read('input', 0, 3);
    });
    expect(first).toEqual(second);
    expect(new Set(first).size).toBe(3);
  });

  it('computes a value once that many others need', () => {
    const chain = Array.from({ length: 60 }, (_, i) => ({
      address: i,
      name: `v${i}`,
      signal: { expression: i === 0 ? 't' : `v${i - 1} + v${i - 1} - v${i - 1}` },
    }));
    const { read, wait } = liveDevices({ meter: { input: chain } });
    wait(3000);
    expect(read('input', 59, 1)).toEqual([3]);
  });
});

describe('a device that loses its power', () => {
  const setup = {
    meter: {
      holding: [
        { address: 0, value: 5, write: true },
        { address: 1, value: 5, write: true, name: 'kept', retain: true },
        { address: 2, signal: { counter: { perSecond: 1 } } },
        { address: 3, name: 'total', retain: true, signal: { counter: { perSecond: 1, from: 100 } } },
      ],
    },
  };

  it('is back after the time and its boot, with registers as configured but those that are retained', () => {
    const { meter, read, write, wait } = liveDevices(setup);
    write(0, 9);
    write(1, 9);
    wait(10_000);
    expect(read('holding', 0, 4)).toEqual([9, 9, 10, 110]);
    meter.interrupt({ forMs: 20_000, bootMs: 1500 });
    expect(meter.power.state).toBe('off');
    wait(20_000);
    expect(meter.power.state).toBe('booting');
    wait(1500);
    expect(meter.power.state).toBe('on');
    wait(500);
    expect(read('holding', 0, 4)).toEqual([5, 9, 2, 112]);
  });

  it('stays off until the power is given back', () => {
    const { meter, read, wait } = liveDevices(setup);
    meter.interrupt({ bootMs: 0 });
    wait(1e9);
    expect(meter.power.state).toBe('off');
    meter.restore(1000);
    expect(meter.power.state).toBe('booting');
    wait(3000);
    expect(meter.power.state).toBe('on');
    expect(read('holding', 2, 1)).toEqual([3]);
    meter.restore(1000);
    expect(meter.power.state).toBe('on');
  });

  it('has its clock stand until the power is back, also when it is reset meanwhile', () => {
    const { meter, wait } = liveDevices(setup);
    meter.interrupt({ forMs: 20_000, bootMs: 0 });
    wait(5000);
    meter.restart();
    wait(5000);
    expect(meter.clock.time).toBe(0);
    wait(12_000);
    expect(meter.power.state).toBe('on');
    expect(meter.clock.time).toBe(2000);
  });
});

describe('the nearest value of a type', () => {
  it.each([
    ['uint16', 1.5, 2, true],
    ['uint16', -1, 0, false],
    ['uint16', 65535.4, 65535, true],
    ['uint16', 65536, 65535, false],
    ['int16', Number.NaN, 0, false],
    ['int16', Number.NEGATIVE_INFINITY, -32768, false],
    ['bit', 0.6, 1, true],
    ['bit', 7, 1, false],
    ['uint64', 2 ** 64, 2n ** 64n - 1n, false],
    ['int64', -5, -5n, true],
    ['float32', 1e39, 3.4028234663852886e38, false],
    ['float64', Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, true],
  ] as const)('%s: %d is %s', (type, number, value, fits) => {
    expect(nearestValue(type, number)).toEqual({ value, fits });
  });
});

describe('a signal that is replaced while the device runs', () => {
  /** The signal of the value that is written so in a file. */
  const placed = (entry: object) => {
    const { meter } = liveDevices({
      meter: {
        holding: [
          { address: 0, name: 'a', ...entry },
          { address: 9, name: 'command', value: 0 },
        ],
      },
    });
    return (meter.points.named.get('a') as Point).placedSignal;
  };
  const at = (live: ReturnType<typeof liveDevices>, name: string) =>
    live.meter.points.named.get(name) as Point;

  it('was added up as it was until then', () => {
    const live = liveDevices({
      meter: {
        holding: [
          { address: 0, name: 'power', signal: { steps: [{ value: 100 }] } },
          { address: 1, name: 'energy', signal: { counter: { integral: 'power', per: '1h' } } },
        ],
      },
    });
    const { meter, read, wait } = live;
    wait(HOUR);
    const before = meter.changes;
    meter.points.setSignal(at(live, 'power'), placed({ signal: { steps: [{ value: 30 }] } }));
    expect(meter.changes).toBeGreaterThan(before);
    wait(HOUR);
    expect(read('holding', 0, 2)).toEqual([30, 130]);
  });

  it('leaves the value where it stands when there is no other, and clients may write it', () => {
    const live = liveDevices({
      meter: { holding: [{ address: 0, name: 'a', write: true, signal: { counter: { perSecond: 1 } } }] },
    });
    const { meter, read, write, wait } = live;
    wait(5000);
    meter.points.setSignal(at(live, 'a'), undefined);
    wait(5000);
    expect(read('holding', 0, 1)).toEqual([5]);
    write(0, 70);
    expect(read('holding', 0, 1)).toEqual([70]);
  });

  it('begins at the value that stands there when it follows another', () => {
    const live = liveDevices({
      meter: {
        holding: [
          { address: 0, name: 'command', value: 80, write: true },
          { address: 1, name: 'valve', value: 20 },
          { address: 2, name: 'second', signal: { follows: { name: 'valve', after: '1s' } } },
        ],
      },
    });
    const { meter, read, write, wait } = live;
    expect(read('holding', 1, 2)).toEqual([20, 20]);
    const follows = placed({ signal: { follows: { name: 'command', slew: 10 } } });
    meter.points.setSignal(at(live, 'valve'), follows);
    wait(1000);
    expect(read('holding', 1, 2)).toEqual([30, 20]);
    wait(9000);
    expect(read('holding', 1, 2)).toEqual([80, 80]);
    write(0, 60);
    wait(1000);
    expect(read('holding', 1, 1)).toEqual([70]);
  });
});

describe('a value that comes from outside', () => {
  const live = () =>
    liveDevices({
      meter: {
        holding: [
          {
            address: 0,
            name: 'power',
            signal: { mqtt: { topic: 'site/power', scale: 0.5, start: 10, stale: '1m' } },
          },
          { address: 1, name: 'energy', signal: { counter: { integral: 'power' } } },
        ],
      },
    });

  it('is scaled, and added up from when it came', () => {
    const { meter, read, wait } = live();
    const power = meter.points.named.get('power') as Point;
    wait(3000);
    const now = performance.now();
    meter.points.take(power, 200, now);
    expect(read('holding', 0, 2)).toEqual([100, 30]);
    wait(2000);
    expect(read('holding', 0, 2)).toEqual([100, 230]);
    expect([power.isAvailable, power.isAlwaysAvailable]).toEqual([true, false]);
  });

  it('is not available before the first, and after one that is too old', () => {
    const { meter, read } = live();
    const power = meter.points.named.get('power') as Point;
    expect([power.isAvailable, read('holding', 0, 1)]).toEqual([false, [0xffff]]);
    meter.points.take(power, 200, performance.now() - 50_000);
    expect(read('holding', 0, 1)).toEqual([100]);
    meter.points.take(power, 200, performance.now() - 60_000);
    expect([power.isAvailable, read('holding', 0, 1)]).toEqual([false, [0xffff]]);
  });
});

describe('what a counter had reached when the program ended', () => {
  const setup = {
    meter: {
      holding: [
        { address: 0, name: 'total', type: 'uint32', write: true, signal: { counter: { perSecond: 2 } } },
        { address: 2, name: 'setpoint', value: 7 },
      ],
    },
  };

  it('is where it goes on from in the next run', () => {
    const [before, after] = [liveDevices(setup), liveDevices(setup)];
    before.wait(5000);
    const total = before.meter.points.named.get('total') as Point;
    // From this moment on it is twice the time, also for a counter that adds this one up.
    expect(total.reached(5000)).toEqual({ time: 0, value: 0 });
    const restored = after.meter.points.named.get('total') as Point;
    expect(after.read('holding', 0, 2)).toEqual([0, 0]);
    restored.resume({ time: 0, value: 10 });
    after.meter.points.restored();
    expect(after.read('holding', 0, 2)).toEqual([0, 10]);
    after.wait(1000);
    expect(after.read('holding', 0, 2)).toEqual([0, 12]);
  });

  it('is what a client has written since it was read', () => {
    const { meter, wait, write } = liveDevices(setup);
    wait(1000);
    write(1, 500);
    wait(1000);
    expect(meter.points.named.get('total')?.reached(2000)).toEqual({ time: 1000, value: 500 });
  });

  it('is nothing where nothing is counted', () => {
    const { meter } = liveDevices(setup);
    const setpoint = meter.points.named.get('setpoint') as Point;
    expect(setpoint.reached(0)).toBeUndefined();
    setpoint.resume({ time: 0, value: 9 });
    expect(setpoint.stored).toBe(7);
  });
});

describe('a clock that jumps', () => {
  it('has what is due meanwhile happen at its time, with the values that others have now', () => {
    const { meter, read, write, wait } = liveDevices({
      meter: {
        holding: [
          {
            address: 0,
            write: true,
            onWrite: [
              { set: { seen: 'other.count' }, after: '1h' },
              { set: { later: 1 }, after: '3h' },
            ],
          },
          { address: 1, name: 'seen' },
          { address: 2, name: 'later' },
        ],
      },
      other: { input: [{ address: 0, name: 'count', signal: { counter: { perSecond: 1 } } }] },
    });
    wait(10_000);
    write(0, 1);
    meter.setClock({}, 2 * HOUR);
    expect(meter.clock.time).toBe(10_000 + 2 * HOUR);
    expect(read('holding', 1, 2)).toEqual([10, 0]);
    meter.setClock({}, HOUR);
    expect(read('holding', 1, 2)).toEqual([10, 1]);
  });
});

describe('a value beside others', () => {
  it('has not been too large where it fits', () => {
    const { read, meter } = liveDevices({
      meter: { input: [{ address: 0, name: 'a', signal: { counter: { perSecond: 1 } } }] },
    });
    read('input', 0, 1);
    expect(meter.points.named.get('a')?.saturated).toBe(0);
  });

  it('counts once that it does not fit, however many registers it has', () => {
    const { read, meter } = liveDevices({
      meter: { input: [{ address: 0, name: 'a', type: 'int32', signal: { steps: [{ value: -3e9 }] } }] },
    });
    expect(read('input', 0, 2)).toEqual([0x8000, 0]);
    expect(meter.points.named.get('a')?.saturated).toBe(1);
  });

  it('goes on where only the register behind it is written', () => {
    const { read, write, wait } = liveDevices({
      meter: {
        holding: [
          { address: 0, signal: { counter: { perSecond: 1 } } },
          { address: 1, write: true },
        ],
      },
    });
    wait(5000);
    write(1, 7);
    wait(5000);
    expect(read('holding', 0, 2)).toEqual([10, 7]);
  });

  it('is not sent with them where it is not available', () => {
    const { respond } = liveDevices({
      meter: {
        holding: [
          { address: 0, value: 5 },
          { address: 1, name: 'away', available: false },
        ],
      },
    });
    expect(respond([3, 0, 0, 0, 1])).toEqual([3, 2, 0, 5]);
  });
});

describe('a value that is added up in another device', () => {
  const bench = () => {
    const live = liveDevices({
      meter: {
        clock: { speed: 2 },
        input: [{ address: 0, type: 'uint32', signal: { counter: { integral: 'other.level' } } }],
      },
      other: { holding: [{ address: 0, name: 'level', write: true, value: 100 }] },
    });
    const { point } = live.graph.find('other', 'level') ?? expect.fail('no such value');
    return { ...live, setLevel: (value: number) => point.image.write(point.location, value) };
  };

  it('counts by the clock there, whatever it was when it is read', () => {
    const { read, wait, setLevel } = bench();
    wait(10_000);
    setLevel(0);
    wait(10_000);
    expect(read('input', 0, 2)).toEqual([0, 2000]);
  });

  it('has no value when that device is gone', () => {
    const { graph, read, wait } = bench();
    wait(10_000);
    expect(read('input', 0, 2)).toEqual([0, 2000]);
    graph.remove('other');
    graph.link();
    wait(10_000);
    expect(read('input', 0, 2)).toEqual([0, 0]);
  });

  it('keeps what it has when a clock is changed', () => {
    const [early, late] = [bench(), bench()].map((live, i) => {
      live.wait(10_000);
      if (i === 0) live.read('input', 0, 2);
      live.meter.setClock({ speed: 10 }, 0);
      live.setLevel(0);
      live.wait(10_000);
      return live.read('input', 0, 2);
    });
    expect([early, late]).toEqual([
      [0, 2000],
      [0, 2000],
    ]);
  });
});

describe('a value whose signal needs others', () => {
  /** Starts a signal that is made by hand in place of the one at address 0. */
  const started = (start: SignalDefinition['start'], more: Partial<PlacedSignal> = {}) => {
    const live = liveDevices({
      meter: {
        holding: [
          { address: 0, name: 'made', signal: { counter: { perSecond: 1 } } },
          { address: 1, name: 'still', value: 30 },
          { address: 2, name: 'ramp', signal: { ramp: { from: 0, to: 100, over: '100s' } } },
        ],
      },
      other: { holding: [{ address: 0, name: 'far', value: 30 }] },
    });
    const point = live.meter.points.named.get('made') as Point;
    const { definition } = point.placedSignal ?? expect.fail('no signal');
    live.meter.points.setSignal(point, { definition: { ...definition, needs: [], start }, ...more });
    return live;
  };

  it('finds their exact integrals in its own device alone', () => {
    let found: unknown[] = [];
    started(({ named }) => {
      const integrals = ['still', 'ramp', 'other.far', 'nobody'].map((name) => named(name));
      return {
        valueAt: () => {
          found = integrals.map(({ integral }) => integral?.(1000, 3000));
          return 0;
        },
      };
    }).read('holding', 0, 1);
    expect(found).toEqual([60, expect.closeTo(4), undefined, undefined]);
  });

  it('opens its recording when it starts, and can not start without one', () => {
    const track: Track = { length: 1000, rowsAt: () => ({ ok: false, error: 'no rows' }) };
    const start: SignalDefinition['start'] = ({ trackOf }) => {
      const opened = trackOf({ file: 'x.csv' } as unknown as TrackSource);
      return { valueAt: () => (opened === track ? 77 : 0) };
    };
    expect(started(start, { openTrack: () => track }).read('holding', 0, 1)).toEqual([77]);
    expect(() => started(start)).toThrow('a playback signal was placed without a recording');
  });
});

describe('a restart', () => {
  it('is a change of the values, and takes over nothing that is not retained', () => {
    const { meter, read, wait } = liveDevices({
      meter: { holding: [{ address: 0, signal: { counter: { perSecond: 1, from: 100 } } }] },
    });
    wait(5000);
    const { changes } = meter.points;
    meter.restart();
    expect([meter.points.changes, read('holding', 0, 1)]).toEqual([changes + 1, [100]]);
  });
});

describe('a queue that a signal feeds', () => {
  const fed = (signal: object) =>
    liveDevices({
      meter: {
        holding: [{ address: 0, name: 'level', write: true, value: 3 }],
        queues: { 100: { signal, every: '1s' } },
      },
    });

  it('is alone where no other was defined, and needs no work beforehand', () => {
    const { respond, graph, wait } = fed({ steps: [{ value: 70_000 }] });
    wait(1000);
    expect([...graph.updateAll()].length).toBeGreaterThan(0);
    expect(respond([24, 0, 7])).toEqual([0x98, 2]);
    expect(respond([24, 0, 100])).toEqual([24, 0, 4, 0, 1, 0xff, 0xff]);
  });

  it('keeps 31 values, also of those from before a write', () => {
    const { respond, write, wait } = fed({ expression: 'level' });
    wait(40_000);
    write(0, 4);
    wait(20_000);
    const words = respond([24, 0, 100]).slice(5);
    expect(words).toHaveLength(62);
    expect([words[1], words[21], words[23], words[61]]).toEqual([3, 3, 4, 4]);
  });
});

describe('a restart of one of several devices', () => {
  const energy = { signal: { counter: { integral: 'power' } } };
  const plant = () =>
    liveDevices({
      meter: {
        input: [
          { address: 0, signal: { expression: 't * 2' } },
          { address: 1, name: 'power', value: 5 },
          { address: 2, ...energy },
        ],
      },
      other: {
        input: [
          { address: 0, quantity: 50, ...energy },
          { address: 99, name: 'power' },
        ],
      },
      // It depends on the meter.
      total: { input: [{ address: 0, name: 'sum', signal: { counter: { integral: 'meter.power' } } }] },
    });

  it('compiles no expression again, and starts what depends on the time alone no second time', () => {
    const { meter, read, wait } = plant();
    const [computed, , counter] = meter.points.all;
    const before = [computed?.signal, counter?.signal];
    wait(3000);
    expect(read('input', 0, 3)).toEqual([6, 5, 15]);
    meter.restart();
    expect(computed?.signal).toBe(before[0]);
    expect(counter?.signal).not.toBe(before[1]);
    wait(1000);
    expect(read('input', 0, 3)).toEqual([2, 5, 5]);
  });

  it('settles what depends on the device alone, and not what others have', () => {
    const { meter, wait } = plant();
    const settled = vi.spyOn(Point.prototype, 'settle');
    wait(3000);
    meter.restart();
    meter.setClock({ speed: 2 }, 0);
    expect(settled).toHaveBeenCalledTimes(4);
    settled.mockRestore();
  });
});
