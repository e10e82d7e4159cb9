import { At } from '../../../src/common/schema/at.js';
import { fileFindings } from '../../../src/common/schema/findings.js';
import { signalSchema } from '../../../src/device/signals/kinds.js';
import type { Pace, Signal, SignalDefinition, Track } from '../../../src/device/signals/signal.js';

/** What a test may give a signal to work with. */
interface Surroundings {
  readonly seed?: number;
  readonly named?: Readonly<Record<string, Signal>>;
  readonly track?: Track;
  readonly pace?: Pace;
}

/** So slow that no test has more to make up at once, unless it is about that. */
const UNHURRIED: Pace = { steps: 30_000, width: 1 };

function definitionOf(entry: unknown): SignalDefinition {
  return signalSchema.parse(entry);
}

/** The signal that an entry makes. */
export function started(
  entry: unknown,
  { seed = 1, named = {}, track, pace = UNHURRIED }: Surroundings = {},
): Signal {
  return definitionOf(entry).start({
    seed,
    pace,
    named: (name) => named[name] as Signal,
    trackOf: () => track as Track,
  });
}

/** What is wrong with an entry, as `path: message`. */
export function mistakesOf(entry: unknown): string[] {
  const at = new At(entry, fileFindings());
  at.check(signalSchema);
  return at.findings.listed.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

/** A recording in memory: times in ms, values. */
export function trackInMemory(rows: readonly (readonly [number, number])[], length: number): Track {
  const found = { times: rows.map(([time]) => time), values: rows.map(([, value]) => value) };
  return { length, rowsAt: () => ({ ok: true, value: found }) };
}
