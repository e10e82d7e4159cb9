import { MAX_SEED } from '../common/random.js';
import { At } from '../common/schema/at.js';
import { Findings } from '../common/schema/findings.js';
import { unknownName } from '../common/schema/nearest.js';
import { type Outcome, refusalOf } from '../simulator/commands/refusal.js';
import type { Simulator } from '../simulator/simulator.js';
import { chosenChecks } from './checks.js';
import { orderSchema } from './examination-order-schema.js';
import { Examination } from './examine/examination.js';
import { DEFAULT_LIMIT_MS, type ExaminationOrder } from './examine/examination-order.js';
import { registerObserver } from './examine/observer/register-observer.js';
import type { KnownRun, Runs } from './runs.js';

/**
 * Starts an examination on a running simulator. Refused with every mistake in `source`, which `orderSchema`
 * describes.
 */
export function startExamination(runs: Runs, source: unknown): Outcome<KnownRun> {
  const { simulator } = runs;
  const findings = new Findings();
  const order = readOrder(new At(source, findings), simulator);
  if (!order) return refusalOf(findings, 'examination.invalid');
  return runs.start(
    'examination',
    [order.line.name],
    (progress) =>
      new Examination(simulator, order, {
        found: (finding, number) => progress.ended(finding, number),
        note: (text) => progress.waits(text),
      }),
    (run, failure) => {
      if (failure !== undefined) run.clientEnded(failure);
      else run.stop();
    },
  );
}

/**
 * Reads a request for an examination and checks it against a running simulator. Undefined after reporting
 * every mistake. A register is the only observer allowed here: a command would run with the rights of this
 * program, and a URL would be fetched from inside this machine's network.
 */
function readOrder(at: At, simulator: Simulator): ExaminationOrder | undefined {
  return at.unlessWrong(() => {
    if (hasForeignObserver(at.key('witness'))) return undefined;
    const source = at.check(orderSchema);
    if (!source) return undefined;
    const line = simulator.lines.get(source.line);
    if (!line) return at.key('line').wrong(unknownName('line', source.line, [...simulator.lines.keys()]));
    if (source.unit !== undefined && !line.owns(source.unit)) {
      return at.key('unit').wrong(`line ${line.name} has no unit ${source.unit}`);
    }
    const checks = chosenChecks(source.checks ?? [], line);
    if (typeof checks === 'string') return at.key('checks').wrong(checks);
    const observer = source.witness && registerObserver(source.witness.register, simulator);
    if (typeof observer === 'string') return at.key('witness').key('register').wrong(observer);
    return {
      line,
      unitId: source.unit,
      checks,
      limitMs: source.limit ?? DEFAULT_LIMIT_MS,
      seed: source.seed ?? Math.floor(Math.random() * (MAX_SEED + 1)),
      observer,
      about: source.about,
    };
  });
}

/**
 * Reports a command or a URL as observer: only `modbus-sim examine` takes them, on a simulator of its own.
 */
function hasForeignObserver(at: At): boolean {
  for (const key of ['command', 'url'] as const) {
    if (at.key(key).value === undefined) continue;
    const why = key === 'command' ? 'a request can start no program' : 'a request can have no address asked';
    at.key(key).wrong(`${why}; use a register, or modbus-sim examine without --url`);
    return true;
  }
  return false;
}
