import { z } from 'zod';
import { MAX_SEED } from '../../random.js';
import type { At } from '../../schema/at.js';
import { unknownName } from '../../schema/nearest.js';
import { bounded, section, text, wholeNumber } from '../../schema/parts.js';
import { duration } from '../../schema/units.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { ExaminationOrder } from './examination-order.js';
import { chosenChecks } from './plan.js';
import { registerWitness } from './witness/register-witness.js';

const DAY_MS = 86_400_000;
const DEFAULT_LIMIT_MS = 600_000;
const MOST_NAMED = 100;
const LAST_UNIT = 255;

/** What a request for an examination says. */
export const orderSchema = section({
  line: text('the name of a line').describe('The line whose client is examined.'),
  unit: wholeNumber(0, LAST_UNIT, 'a unit identifier')
    .optional()
    .describe('Only questions to this unit are disturbed.'),
  checks: bounded(z.array(text('the name of a check or of a group')), MOST_NAMED)
    .optional()
    .describe(
      'Checks and groups of checks; all that fit the line when absent. `GET /api/v1/checks` lists them.',
    ),
  limit: duration(1, DAY_MS)
    .optional()
    .describe(
      'How long the examination may take. What is not reached by then is `not run`. 10 min when absent.',
    ),
  seed: wholeNumber(0, MAX_SEED, 'a seed')
    .optional()
    .describe('The order of the checks and their random parts come from it.'),
  witness: section({ register: text('a value, as in meter.setpoint') })
    .optional()
    .describe(
      'Shows which value the client has read: a register that the client writes what it has read to, `meter.setpoint` or `meter.holding.100`.',
    ),
});

/**
 * Reads what a request asks to examine, and checks it against a running bench. Undefined after reporting every mistake.
 * Of witnesses only registers are allowed: a command would run with the rights of this program, and an address would be
 * asked from inside this machine's network.
 */
export function readOrder(at: At, bench: Simulator): ExaminationOrder | undefined {
  return at.unlessWrong(() => {
    if (hasForeignWitness(at.key('witness'))) return undefined;
    const source = at.check(orderSchema);
    if (!source) return undefined;
    const line = bench.lines.get(source.line);
    if (!line) return at.key('line').wrong(unknownName('line', source.line, [...bench.lines.keys()]));
    if (source.unit !== undefined && !line.owns(source.unit)) {
      return at.key('unit').wrong(`line ${line.name} has no unit ${source.unit}`);
    }
    const checks = chosenChecks(source.checks ?? [], line);
    if (typeof checks === 'string') return at.key('checks').wrong(checks);
    const witness = source.witness && registerWitness(source.witness.register, bench.devices);
    if (typeof witness === 'string') return at.key('witness').key('register').wrong(witness);
    return {
      line,
      unitId: source.unit,
      checks,
      limitMs: source.limit ?? DEFAULT_LIMIT_MS,
      seed: source.seed ?? Math.floor(Math.random() * (MAX_SEED + 1)),
      witness,
    };
  });
}

/** Reports witnesses that only `modbus-sim examine` takes, on a bench of its own. */
function hasForeignWitness(at: At): boolean {
  for (const key of ['command', 'url'] as const) {
    if (at.key(key).value === undefined) continue;
    const why = key === 'command' ? 'a request can start no program' : 'a request can have no address asked';
    at.key(key).wrong(`${why}; use a register, or modbus-sim examine without --url`);
    return true;
  }
  return false;
}
