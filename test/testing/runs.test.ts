import { pino } from 'pino';
import { expect, it } from 'vitest';
import { Simulator } from '../../src/simulator/simulator.js';
import type { Report } from '../../src/testing/report/report.js';
import { type RunKind, Runs } from '../../src/testing/runs.js';
import { nativeSetup } from '../support/configuration.js';

const LAN = { tcp: { port: 0 }, units: { 1: 'meter' } };

it('gives all lines to one test or examination, or none, until it ends', async () => {
  const setup = nativeSetup({
    devices: { meter: { registers: { coils: [{ address: 0 }] } } },
    lines: { a: LAN, b: LAN, c: LAN },
  });
  const simulator = new Simulator(setup, pino({ level: 'silent' }));
  expect((await simulator.start()).ok).toBe(true);
  const runs = new Runs(simulator);
  const report = { kind: 'test', name: 'a run', verdict: 'pass' } as Report;
  /** @returns the run as far as it is known; or why it was refused */
  const begin = (kind: RunKind, ...lines: string[]) => {
    const made = { isOver: false, report, run: () => new Promise<Report>(() => {}) };
    const stop = () => {
      made.isOver = true;
    };
    const started = runs.start(kind, lines, () => made, stop);
    return started.ok ? started.value : started.problems.map(({ message }) => message).join();
  };
  const one = begin('test', 'a', 'b');
  expect(begin('examination', 'c', 'b')).toBe('test 1 runs on line b; DELETE stops it');
  expect(begin('examination', 'c')).toMatchObject({ id: 2 });
  if (typeof one !== 'string') one.stop();
  expect(begin('test', 'a', 'b')).toMatchObject({ id: 3 });
  expect(begin('test', 'c')).toBe('examination 2 runs on line c; DELETE stops it');
  await simulator.stop();
});
