import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeviceClock, MAX_SPEED, MAX_TIME } from '../../../src/device/signals/clock.js';

describe('the clock of a device', () => {
  it('begins at 0 and follows the real time at its speed', () => {
    let now = 5000;
    const clock = new DeviceClock(() => now, { speed: 60 });
    expect(clock.time).toBe(0);
    now += 1000;
    expect(clock.time).toBe(60_000);
  });

  it('changes its speed without a jump', () => {
    let now = 0;
    const clock = new DeviceClock(() => now);
    now = 1000;
    clock.set({ speed: 10 });
    expect(clock.time).toBe(1000);
    now = 2000;
    expect(clock.time).toBe(11_000);
  });

  it('stands still while it is paused, and can be stepped then', () => {
    let now = 0;
    const clock = new DeviceClock(() => now);
    now = 1000;
    clock.set({ paused: true });
    now = 9000;
    expect(clock.time).toBe(1000);
    clock.step(500);
    expect(clock.time).toBe(1500);
    clock.set({ paused: false });
    now = 9001;
    expect(clock.time).toBe(1501);
  });

  it('steps ahead while it runs', () => {
    let now = 0;
    const clock = new DeviceClock(() => now);
    now = 10;
    clock.step(3_600_000);
    now = 11;
    expect(clock.time).toBe(3_600_011);
  });

  it('begins again at 0 with the same settings', () => {
    let now = 0;
    const clock = new DeviceClock(() => now, { speed: 2 });
    now = 1000;
    clock.restart();
    expect(clock.time).toBe(0);
    now = 1001;
    expect(clock.time).toBe(2);
    expect(clock.settings).toEqual({ speed: 2, paused: false });
  });

  it('knows the real time of each of its times, which is now while it stands still', () => {
    let now = 1000;
    const clock = new DeviceClock(() => now, { speed: 4 });
    now = 2000;
    clock.set({ speed: 2 });
    expect(clock.time).toBe(4000);
    expect([clock.realAt(4000), clock.realAt(4500), clock.realAt(3000)]).toEqual([2000, 2250, 1500]);
    expect([clock.timeAt(2250), clock.timeAt(1500), clock.timeAt(-9000)]).toEqual([4500, 3000, 0]);
    clock.set({ paused: true });
    now = 2345;
    expect([clock.realAt(9000), clock.timeAt(9000)]).toEqual([2345, 4000]);
    clock.set({ paused: false, speed: 0 });
    expect([clock.realAt(9000), clock.timeAt(9000)]).toEqual([2345, 4000]);
  });

  it('stands at 0 until a later start, whatever is set before, and counts its changes', () => {
    let now = 0;
    const clock = new DeviceClock(() => now);
    clock.restart(5000);
    now = 1000;
    clock.set({ speed: 10 });
    expect(clock.time).toBe(0);
    now = 5001;
    expect(clock.time).toBe(10);
    expect(clock.changes).toBe(2);
    clock.step(5);
    clock.resume(70, { speed: 3, paused: true });
    expect([clock.changes, clock.time]).toEqual([4, 70]);
    expect(clock.settings).toEqual({ speed: 3, paused: true });
    now = 6001;
    clock.set({ paused: false });
    now = 6002;
    expect(clock.time).toBe(73);
  });

  it('shows a time at each speed while it waits for a start that is not foreseen', () => {
    let now = 1000;
    const clock = new DeviceClock(() => now);
    clock.restart(Number.POSITIVE_INFINITY);
    for (const settings of [{ speed: 0 }, { paused: true }, { speed: 2, paused: false }, { speed: 0 }]) {
      clock.set(settings);
      now += 500;
      expect([clock.time, clock.realAt(0), clock.realAt(5)]).toEqual([0, now, now]);
    }
    clock.step(700);
    expect(clock.time).toBe(700);
    clock.restart();
    clock.set({ speed: 1 });
    now += 10;
    expect(clock.time).toBe(10);
  });

  it('stands at the time it was stepped to, until the moment it waits for', () => {
    let now = 0;
    const clock = new DeviceClock(() => now);
    clock.restart(1000);
    clock.step(5000);
    now = 500;
    expect(clock.time).toBe(5000);
    now = 1001;
    expect(clock.time).toBe(5001);
  });

  it('has reached a time when that is due, whatever is rounded, and no later', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-6, max: MAX_SPEED, noNaN: true }),
        fc.double({ min: 0, max: MAX_TIME / 2, noNaN: true }),
        fc.double({ min: 1, max: 86_400_000, noNaN: true }),
        (speed, begun, ms) => {
          let now = 0;
          const clock = new DeviceClock(() => now, { speed });
          clock.step(begun);
          const due = clock.time + ms;
          expect(clock.hasReached(due)).toBe(due === clock.time);
          now = clock.dueAt(due);
          expect(clock.hasReached(due)).toBe(true);
        },
      ),
    );
    const still = new DeviceClock(() => 0, { paused: true });
    expect([still.dueAt(1), still.hasReached(1), still.hasReached(0)]).toEqual([
      Number.POSITIVE_INFINITY,
      false,
      true,
    ]);
    still.resume(MAX_TIME, { speed: 1, paused: false });
    expect(still.dueAt(MAX_TIME + 2)).toBe(Number.POSITIVE_INFINITY);
  });

  it('stands at the end of all clocks, however often it is stepped there', () => {
    let now = 0;
    const clock = new DeviceClock(() => now, { speed: MAX_SPEED });
    for (let i = 0; i < 40; i++) clock.step(3650 * 86_400_000);
    expect(clock.time).toBeLessThan(MAX_TIME);
    clock.step(Number.MAX_VALUE);
    now += 1000;
    expect(clock.time).toBe(MAX_TIME);
  });
});
