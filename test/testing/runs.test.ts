import { pino } from 'pino';
import { expect, it } from 'vitest';
import { Simulator } from '../../src/simulator/simulator.js';
import type { Report } from '../../src/testing/report/report.js';
import type { RunKind } from '../../src/testing/run-kinds.js';
import { Runs } from '../../src/testing/runs.js';
import { nativeSetup } from '../support/configuration.js';

const LAN = { tcp: { port: 0 }, units: { 1: 'meter' } };

it('gives all lines to one run, or none, until it ends', async () => {
  const setup = nativeSetup({
    devices: { meter: { registers: { coils: [{ address: 0 }] } } },
    lines: { a: LAN, b: LAN, c: LAN },
  });
  const simulator = new Simulator(setup, pino({ level: 'silent' }));
  expect((await simulator.start()).ok).toBe(true);
  const runs = new Runs(simulator);
  const report = { kind: 'scenario', name: 'a run', verdict: 'pass' } as Report;
  /** @returns the run as far as it is known; or why it was refused */
  const begin = (kind: RunKind, ...lines: string[]) => {
    const made = { isOver: false, report, doing: undefined, run: () => new Promise<Report>(() => {}) };
    const stop = () => {
      made.isOver = true;
    };
    const started = runs.start(kind, lines, () => made, stop);
    return started.ok ? started.value : started.problems.map(({ message }) => message).join();
  };
  const one = begin('scenario', 'a', 'b');
  expect(begin('client', 'c', 'b')).toBe('run 1 is using line b; DELETE /api/v1/runs/1 stops it');
  expect(begin('client', 'c')).toMatchObject({ id: 2 });
  if (typeof one !== 'string') one.stop();
  expect(begin('scenario', 'a', 'b')).toMatchObject({ id: 3 });
  expect(begin('scenario', 'c')).toBe('run 2 is using line c; DELETE /api/v1/runs/2 stops it');
  await simulator.stop();
});
