import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { type Outcome, refusalOf } from '../../simulator/commands/refusal.js';
import type { Simulator } from '../../simulator/simulator.js';
import { shakeOrderSchema } from '../order-schemas.js';
import type { KnownRun, Runs } from '../runs.js';
import { readClient, startOnClient } from '../start-examination.js';
import { checkMoves, DEFAULT_SHAKE_MS, type ShakeOrder } from './move.js';
import { Shake } from './shake.js';

/** Starts a shake on a running simulator. Refused with every mistake in `source`, which `shakeOrderSchema` describes. */
export function startShake(runs: Runs, source: unknown): Outcome<KnownRun> {
  const { simulator } = runs;
  const findings = new Findings();
  const order = readShake(new At(source, findings), simulator);
  if (!order) return refusalOf(findings, 'shake.invalid');
  return startOnClient(runs, 'shake', order.line, (audience) => new Shake(simulator, order, audience));
}

/** Reads a request for a shake and checks it against a running simulator. Undefined after reporting every mistake. */
export function readShake(at: At, simulator: Simulator): ShakeOrder | undefined {
  return at.unlessWrong(() => {
    const read = readClient(at, shakeOrderSchema, simulator);
    if (!read) return undefined;
    const { limit = DEFAULT_SHAKE_MS, moves, replay } = read.source;
    if (replay) checkMoves(at.key('replay'), replay, simulator);
    return { ...read.client, limitMs: limit, mostMoves: moves, replay };
  });
}
