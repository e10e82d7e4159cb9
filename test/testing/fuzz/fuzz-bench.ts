import { FuzzRun } from '../../../src/testing/fuzz/fuzz-run.js';
import type { FuzzOrder } from '../../../src/testing/fuzz/move.js';
import type { Report } from '../../../src/testing/report/report.js';
import type { VirtualClock } from '../../support/virtual-clock.js';
import type { Habits } from '../client/habits.js';
import { written } from '../client/observers.js';
import { untilOver, virtualBench } from '../client/virtual-bench.js';
import type { Trap } from './trap.js';

/** A model client that is fuzzed. */
export interface FuzzedClient {
  readonly on: 'serial' | 'tcp';
  readonly habits: Partial<Habits>;
  /** It writes back what it reads, and that is observed. */
  readonly isObserved?: boolean;
  /** The planted mistake of a client that was just started. */
  readonly trap?: () => Trap;
}

const RESTART_MS = 300;
const LIMIT_MS = 10_000 * 3_600_000;

/**
 * Fuzzes a model client in virtual time; it is started again whenever that is wanted.
 * @param jitterMs by which its timers, its rounds and the bytes on the line are late at most
 */
export async function fuzzModel(
  { on, habits, isObserved = false, trap }: FuzzedClient,
  order: Partial<FuzzOrder>,
  jitterMs = 0,
  onRun: (fuzz: FuzzRun, clock: VirtualClock) => void = () => {},
): Promise<Report> {
  const { seed = 1 } = order;
  const bench = await virtualBench(on, (random) => random.next() * jitterMs, seed);
  const line = bench.simulator.lines.get('bus');
  if (!line) throw new Error('no line');
  const start = () => {
    const started = bench.client({ ...habits, jitterMs, latenessMs: jitterMs, seed }, trap?.());
    started.onEnd = () => fuzz.clientEnded('its process has ended with exit code 1');
    void started.poll();
    return started;
  };
  const restart = async () => {
    client.kill();
    await new Promise<void>((resolve) => void bench.clock.callAfter(RESTART_MS, resolve));
    client = start();
    return undefined;
  };
  const observer = isObserved ? written(bench.client(habits), bench) : undefined;
  const wanted = { line, unitId: undefined, limitMs: LIMIT_MS, restart, observer, ...order, seed };
  const fuzz = new FuzzRun(bench.simulator, wanted, {}, bench.clock);
  onRun(fuzz, bench.clock);
  let client = start();
  const report = await untilOver(bench.clock, fuzz.run());
  client.kill();
  return report;
}
