import { z } from 'zod';
import { unknownName } from '../schema/nearest.js';
import { isMapping } from '../schema/parts.js';
import { expectedMessage, type Path } from '../schema/problem.js';
import { counter } from './kinds/counter.js';
import { expression } from './kinds/expression.js';
import { follows } from './kinds/follows.js';
import { noise } from './kinds/noise.js';
import { playback } from './kinds/playback.js';
import { ramp } from './kinds/ramp.js';
import { sawtooth } from './kinds/sawtooth.js';
import { sine } from './kinds/sine.js';
import { square } from './kinds/square.js';
import { steps } from './kinds/steps.js';
import { triangle } from './kinds/triangle.js';
import { walk } from './kinds/walk.js';
import type { TrackSource } from './recording/track.js';
import type { Fits, Signal, SignalContext, SignalKind } from './signal.js';

/** A checked `signal` entry: a kind with its parameters, ready to be started. */
export interface SignalDefinition {
  readonly kind: string;
  /** The parameters as they were written. */
  readonly written: unknown;
  readonly fits: Fits;
  readonly needs: readonly string[];
  readonly plays: TrackSource | undefined;
  start(context: SignalContext): Signal;
}

/** A signal, or the schema's issues with its parameters. */
type ParsedSignal =
  | { readonly ok: true; readonly signal: SignalDefinition }
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[] };

/** A kind of signal, without the type of its parameters. */
interface KindEntry {
  readonly doc: SignalKind<unknown>['doc'];
  readonly schema: z.ZodType;
  parse(parameters: unknown): ParsedSignal;
}

/** Every kind of signal by its key in `signal`. A new kind is a file in `kinds/` and a line here. */
const KINDS: ReadonlyMap<string, KindEntry> = new Map([
  kind('sine', sine),
  kind('triangle', triangle),
  kind('sawtooth', sawtooth),
  kind('square', square),
  kind('ramp', ramp),
  kind('walk', walk),
  kind('noise', noise),
  kind('steps', steps),
  kind('playback', playback),
  kind('counter', counter),
  kind('expression', expression),
  kind('follows', follows),
]);

/** The kinds with the schemas of their parameters, and with their rows of docs/signals.md. */
export function signalKinds(): (SignalKind<unknown>['doc'] & {
  readonly name: string;
  readonly schema: z.ZodType;
})[] {
  return Array.from(KINDS, ([name, { doc, schema }]) => ({ name, schema, ...doc }));
}

/** `signal`: an object with one key, the kind of signal. */
export const signalSchema = z.unknown().transform((input, context): SignalDefinition => {
  const fail = (path: Path, message: string) => {
    context.issues.push({ code: 'custom', input, path: [...path], message });
    return z.NEVER;
  };
  if (!isMapping(input)) {
    const expected = 'one kind of signal with its parameters, as in {sine: {period: 10s, amplitude: 5}}';
    return fail([], expectedMessage(expected, input));
  }
  const entries = Object.entries(input);
  const [entry] = entries;
  if (!entry || entries.length > 1)
    return fail([], `expected one kind of signal, got ${entries.length} keys`);
  const [name, parameters] = entry;
  const found = KINDS.get(name);
  if (!found) return fail([name], unknownName('kind of signal', name, [...KINDS.keys()]));
  const parsed = found.parse(parameters);
  if (parsed.ok) return parsed.signal;
  // Issues are passed on unchanged. Their text is made later, only for as many mistakes as are listed.
  for (const issue of parsed.issues) {
    context.issues.push({ ...issue, path: [name, ...issue.path] } as z.core.$ZodRawIssue);
  }
  return z.NEVER;
});

function kind<Parameters>(
  name: string,
  { schema, fits, doc, needs, plays, start }: SignalKind<Parameters>,
): [string, KindEntry] {
  const definition = (parameters: Parameters, written: unknown): SignalDefinition => ({
    kind: name,
    written,
    fits,
    needs: needs?.(parameters) ?? [],
    plays: plays?.(parameters),
    start: (context) => start(parameters, context),
  });
  return [
    name,
    {
      doc,
      schema,
      parse(input) {
        const parsed = schema.safeParse(input, { reportInput: true });
        return parsed.success
          ? { ok: true, signal: definition(parsed.data, input) }
          : { ok: false, issues: parsed.error.issues };
      },
    },
  ];
}
