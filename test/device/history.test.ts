import { describe, expect, it } from 'vitest';
import { History, type KeptCells } from '../../src/device/registers/history.js';
import { liveDevices } from './live.js';

/** A meter with registers that clients write, and with values of each sort of signal. */
function meter() {
  const live = liveDevices({
    meter: {
      coils: [{ address: 0, write: true, pulse: '2s' }],
      holding: [
        { address: 0, value: [1, 2, 3], write: true },
        { address: 3, value: 10, write: true, name: 'current' },
        { address: 4, type: 'uint16', signal: { sine: { period: '40s', amplitude: 100, offset: 500 } } },
        { address: 5, signal: { expression: 'current * 2' } },
        { address: 6, signal: { counter: { integral: 'current' } } },
        { address: 7, signal: { follows: { name: 'current', after: '1s' } } },
        { address: 8, signal: { counter: { perSecond: 3 } } },
      ],
    },
  });
  const { image } = live.meter.tables.holding.window;
  /** The words of the holding registers as they were; undefined where nobody knows. */
  const then = (real: number) => {
    const { points } = live.meter;
    const known =
      image === undefined
        ? []
        : Array.from({ length: 9 }, (_, address) => {
            const point = points.at(image, address);
            return !point || points.isKnownAt(point, real);
          });
    return live.meter.at(real, () => {
      for (const [address, isKnown] of known.entries()) if (isKnown) image.refresh(address, 1);
      return known.map((isKnown, address) => (isKnown ? image.wordAt(address) : undefined));
    });
  };
  return { ...live, image, then };
}

describe('what registers held', () => {
  it('is what a client read then, of values that it writes and of signals that are functions of time', () => {
    const { read, write, wait, then } = meter();
    const seen: [number, number[]][] = [];
    for (let i = 0; i < 40; i++) {
      const at = 500 * i;
      if (i % 3 === 0) write(0, 100 + i);
      if (i === 20) write(2, 7);
      seen.push([at, read('holding', 0, 9)]);
      wait(500);
    }
    const written = [0, 1, 2, 3, 4, 5, 7, 8];
    for (const [at, words] of seen) {
      const past = then(at);
      expect([at, written.map((i) => past[i])]).toEqual([at, written.map((i) => words[i])]);
    }
    expect(then(0)[6]).toBe(0);
  });

  it('leaves everything as it is now', () => {
    const { read, write, wait, then, meter: device } = meter();
    for (let i = 0; i < 20; i++) {
      write(i % 4, i);
      wait(300);
    }
    const [before, clock] = [read('holding', 0, 9), device.clock.time];
    for (let at = 0; at < 6000; at += 100) then(at);
    expect([read('holding', 0, 9), device.clock.time]).toEqual([before, clock]);
    const untouched = meter();
    for (let i = 0; i < 20; i++) {
      untouched.write(i % 4, i);
      untouched.wait(300);
    }
    expect(untouched.read('holding', 0, 9)).toEqual(before);
  });

  it('is not known of a sum and of a follower from before what they depend on was changed', () => {
    const { read, write, wait, then } = meter();
    wait(2000);
    write(3, 30);
    wait(2000);
    const [now] = [read('holding', 0, 9)];
    expect(then(4000)).toEqual(now);
    expect(then(1000)[3]).toBe(10);
    expect(then(1000)[5]).toBe(20);
    expect([then(1000)[6], then(1000)[7]]).toEqual([undefined, undefined]);
    expect(then(2500)[6]).toBe(now[6] === undefined ? undefined : 35);
  });

  it('has what happened by itself at the time at which it was due, though nobody looked', () => {
    const { meter: device, respond, wait } = meter();
    respond([5, 0, 0, 0xff, 0]);
    wait(10_000);
    const coil = (at: number) => device.at(at, () => device.tables.coils.bitAt(0));
    expect([coil(0), coil(1999), coil(2000), coil(9000)]).toEqual([true, true, false, false]);
  });

  it('begins again when the device is restarted, its clock is set, or registers are defined', () => {
    const { meter: device, wait } = meter();
    expect(device.history.since(device.points)).toEqual({ at: 0, why: 'made' });
    wait(1000);
    device.setClock({ speed: 2 }, 0);
    expect(device.history.since(device.points)).toEqual({ at: 1000, why: 'clock' });
    wait(1000);
    device.define('holding', [{ address: 100, quantity: 1 }], true);
    expect(device.history.since(device.points)).toEqual({ at: 2000, why: 'defined' });
    wait(1000);
    device.restart();
    expect(device.history.since(device.points)).toEqual({ at: 3000, why: 'restarted' });
  });

  it('has the changes before and after a moment, and what the last one replaced', () => {
    const { meter: device, image, write, wait } = meter();
    wait(1000);
    write(0, 50);
    wait(1000);
    write(1, 60);
    const around = (at: number) => device.history.around(at, device.images, image);
    expect(around(500)).toEqual({ last: undefined, previous: undefined, next: 1000 });
    expect(around(1500)).toEqual({
      last: { at: 1000, before: new Map([[0, 1]]) },
      previous: 1000,
      next: 2000,
    });
    expect(around(2000)).toEqual({
      last: { at: 2000, before: new Map([[1, 2]]) },
      previous: 1000,
      next: undefined,
    });
  });

  it('is kept of a bounded number of changes, and says from when on', () => {
    let now = 0;
    const history = new History(() => now);
    const cells = new Uint16Array(4);
    const owner = {
      exchange(address: number, word: number) {
        const before = cells[address] as number;
        cells[address] = word;
        return before;
      },
    };
    const recorded: KeptCells = { cells: owner };
    history.begin(owner, 'made');
    for (now = 1; now <= 32_768 + 500; now++) {
      history.note(recorded, now % 4, cells[now % 4] as number, now);
      cells[now % 4] = now & 0xffff;
    }
    expect(history.since(owner)).toEqual({ at: 500, why: 'full' });
    const before = [...cells];
    expect(history.at(500, () => [...cells])).toEqual([500, 497, 498, 499]);
    expect([...cells]).toEqual(before);
    recorded.cells = undefined;
    expect(history.at(500, () => [...cells])).toEqual(before);
  });
});
