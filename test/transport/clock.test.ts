import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/transport/clock.js';

/** Keeps this process from doing anything else. */
function stall(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('the clock of the system', () => {
  it.each([-5, 0, 0.3, 1.75, 12.5])(
    'calls back at a time %d ms away, never before and never at once',
    async (ms) => {
      const at = systemClock.now() + ms;
      let isBack = false;
      const back = new Promise<number>((resolve) => {
        systemClock.callAt(at, () => {
          isBack = true;
          resolve(systemClock.now());
        });
      });
      expect(isBack).toBe(false);
      expect(await back).toBeGreaterThanOrEqual(at);
    },
  );

  it('calls back later than asked for, after what came during a stall was read', async () => {
    const from = systemClock.now();
    const happened: string[] = [];
    const back = new Promise<void>((resolve) => {
      systemClock.callAfter(5, () => {
        happened.push('callback');
        resolve();
      });
    });
    setImmediate(() => {
      stall(20);
      setImmediate(() => setImmediate(() => happened.push('read')));
    });
    await back;
    expect(happened).toEqual(['read', 'callback']);
    expect(systemClock.now() - from).toBeGreaterThan(5);
  });

  it('can be called off', async () => {
    const happened: string[] = [];
    for (const ms of [0, 1, 5]) {
      systemClock.callAt(systemClock.now() + ms, () => happened.push('at'))();
      systemClock.callAfter(ms, () => happened.push('after'))();
    }
    const offLater = systemClock.callAfter(1, () => happened.push('after'));
    await new Promise((resolve) => setTimeout(resolve, 2));
    offLater();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(happened).toEqual([]);
  });
});
