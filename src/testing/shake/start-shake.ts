import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import type { Work } from '../../common/work.js';
import { type Outcome, refusalOf } from '../../simulator/commands/refusal.js';
import type { Simulator } from '../../simulator/simulator.js';
import { fuzzOrderSchema } from '../order-schemas.js';
import type { KnownRun, Runs } from '../runs.js';
import { readClient, startOnClient } from '../start-examination.js';
import { checkingMoves, DEFAULT_SHAKE_MS, type ShakeOrder } from './move.js';
import { Shake } from './shake.js';

/**
 * Starts a shake on a running simulator. Refused with every mistake in `source`, which `fuzzOrderSchema`
 * describes. Its moves may be many, so it yields in each of them.
 */
export function* startingShake(runs: Runs, source: unknown): Work<Outcome<KnownRun>> {
  const { simulator } = runs;
  const findings = new Findings();
  const order = yield* readingShake(new At(source, findings), simulator);
  if (!order) return refusalOf(findings, 'run.invalid');
  return startOnClient(runs, 'fuzz', order.line, (audience) => new Shake(simulator, order, audience));
}

/** Reads an order of a shake and checks it against a simulator. Undefined after reporting every mistake. */
export function readingShake(at: At, simulator: Simulator): Work<ShakeOrder | undefined> {
  return at.unlessWrongIn(readingOrder(at, simulator));
}

function* readingOrder(at: At, simulator: Simulator): Work<ShakeOrder | undefined> {
  const { replay } = readClient(at, fuzzOrderSchema, simulator)?.source ?? {};
  if (replay) yield* checkingMoves(at.key('replay'), replay, simulator);
  // The line may have been removed meanwhile.
  const read = at.findings.count === 0 ? readClient(at, fuzzOrderSchema, simulator) : undefined;
  if (!read) return undefined;
  const { limit = DEFAULT_SHAKE_MS, moves } = read.source;
  return { ...read.client, limitMs: limit, mostMoves: moves, replay };
}
