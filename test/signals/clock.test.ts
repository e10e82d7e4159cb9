import { describe, expect, it } from 'vitest';
import { DeviceClock } from '../../src/signals/clock.js';

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
});
