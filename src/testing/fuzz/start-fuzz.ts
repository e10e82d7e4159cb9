import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import type { Work } from '../../common/work.js';
import { type Outcome, refusalOf } from '../../simulator/commands/refusal.js';
import type { Simulator } from '../../simulator/simulator.js';
import { fuzzOrderSchema } from '../order-schemas.js';
import type { KnownRun, Runs } from '../runs.js';
import { readClient, startOnClient } from '../start-client-test.js';
import { knownKinds } from './deck.js';
import { FuzzRun } from './fuzz-run.js';
import { checkingMoves, DEFAULT_FUZZ_MS, type FuzzOrder } from './move.js';

/**
 * Starts a fuzz run on a running simulator. If `source`, which `fuzzOrderSchema` describes, has mistakes, the
 * refusal lists all of them. There may be many moves, so it yields in each.
 */
export function* startingFuzz(runs: Runs, source: unknown): Work<Outcome<KnownRun>> {
  const { simulator } = runs;
  const findings = new Findings();
  const order = yield* readingFuzz(new At(source, findings), simulator);
  if (!order) return refusalOf(findings, 'run.invalid');
  return startOnClient(runs, 'fuzz', order.line, (audience) => new FuzzRun(simulator, order, audience));
}

/** Reads an order for a fuzz run and checks it against a simulator. Undefined after reporting every mistake. */
export function readingFuzz(at: At, simulator: Simulator): Work<FuzzOrder | undefined> {
  return at.unlessWrongIn(readingOrder(at, simulator));
}

function* readingOrder(at: At, simulator: Simulator): Work<FuzzOrder | undefined> {
  const { replay, except = [] } = readClient(at, fuzzOrderSchema, simulator)?.source ?? {};
  const known = except.length > 0 ? knownKinds() : [];
  for (const [i, kind] of except.entries())
    if (!known.includes(kind))
      at.key('except')
        .key(i)
        .wrong(unknownName('kind of move', kind, known));
  if (replay) yield* checkingMoves(at.key('replay'), replay, simulator);
  // The line may have been removed in the meantime.
  const read = at.findings.count === 0 ? readClient(at, fuzzOrderSchema, simulator) : undefined;
  if (!read) return undefined;
  const { limit = DEFAULT_FUZZ_MS, moves } = read.source;
  return { ...read.client, limitMs: limit, mostMoves: moves, except, replay };
}
