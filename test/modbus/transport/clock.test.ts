import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/modbus/transport/clock.js';
import { useKernelTimer } from '../../../src/modbus/transport/port/kernel-timer.js';
import { bundled } from '../../support/bundled.mjs';

/** Keeps this process from doing anything else. */
function stall(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe.each(["the event loop's timers", "the kernel's timer"])(
  'the clock of the system, by %s',
  (timers) => {
    beforeAll(async () => {
      if (timers === "the kernel's timer") await useKernelTimer();
    });

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
      // What comes during the stall is read in the second turn after it.
      setImmediate(() => setImmediate(() => happened.push('read')));
      stall(20);
      await back;
      expect(happened).toEqual(['read', 'callback']);
      expect(systemClock.now() - from).toBeGreaterThan(5);
    });

    it('calls each of many back in its time, whatever order they were asked for in', async () => {
      const happened: number[] = [];
      const waits = [9, 2, 5.5, 2.25, 30, 0.1, 5, 1.75, 12].map(
        (ms) =>
          new Promise<void>((resolve) => {
            const at = systemClock.now() + ms;
            systemClock.callAt(at, () => {
              expect(systemClock.now()).toBeGreaterThanOrEqual(at);
              happened.push(ms);
              resolve();
            });
          }),
      );
      // The first and the last of those that wait are called off.
      systemClock.callAt(systemClock.now() + 1, () => happened.push(-1))();
      systemClock.callAt(systemClock.now() + 60, () => happened.push(-1))();
      await Promise.all(waits);
      expect(happened.toSorted((a, b) => a - b)).toEqual([0.1, 1.75, 2, 2.25, 5, 5.5, 9, 12, 30]);
    });

    it('lets one that is called back call off another that is due as well', async () => {
      const happened: string[] = [];
      const at = systemClock.now() + 5;
      const offs = ['one', 'other'].map((name, i) =>
        systemClock.callAt(at, () => {
          happened.push(name);
          offs[1 - i]?.();
        }),
      );
      stall(20);
      await expect.poll(() => happened.length).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(happened).toHaveLength(1);
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
  },
);

it('keeps no process alive for a wait that was called off', async () => {
  const code = await bundled(`
    import { systemClock } from './src/modbus/transport/clock.js';
    import { useKernelTimer } from './src/modbus/transport/port/kernel-timer.js';
    await useKernelTimer();
    systemClock.callAt(performance.now() + 3_600_000, () => {})();`);
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
