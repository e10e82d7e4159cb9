import { z } from 'zod';
import type { ReplyPlan } from '../protocol/reply-plan.js';
import type { Ability } from './ability.js';
import type { Applied, FaultContext, FaultKind } from './kind.js';
import { byteCount } from './kinds/byte-count.js';
import { change } from './kinds/change.js';
import { close } from './kinds/close.js';
import { corrupt } from './kinds/corrupt.js';
import { crc } from './kinds/crc.js';
import { delay } from './kinds/delay.js';
import { duplicate } from './kinds/duplicate.js';
import { early } from './kinds/early.js';
import { echo } from './kinds/echo.js';
import { exception } from './kinds/exception.js';
import { extend } from './kinds/extend.js';
import { functionCode } from './kinds/function-code.js';
import { gap } from './kinds/gap.js';
import { junk } from './kinds/junk.js';
import { noise } from './kinds/noise.js';
import { serialBreak } from './kinds/serial-break.js';
import { silence } from './kinds/silence.js';
import { split } from './kinds/split.js';
import { stale } from './kinds/stale.js';
import { transaction } from './kinds/transaction.js';
import { truncate } from './kinds/truncate.js';
import { unit } from './kinds/unit.js';
import { values } from './kinds/values.js';

/** One entry of a rule's `do`: a kind with its parameters, ready to act. */
export interface Fault {
  readonly kind: string;
  /** The parameters as they were written. */
  readonly written: unknown;
  readonly needs: Ability | undefined;
  readonly prevents: boolean;
  apply(plan: ReplyPlan, context: FaultContext): Applied;
}

/** A fault, or the schema's errors about its parameters. */
type ParsedFault =
  | { readonly ok: true; readonly fault: Fault }
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[] };

type ParseParameters = (parameters: unknown) => ParsedFault;

interface Kind {
  readonly does: string;
  readonly schema: z.ZodType;
  readonly parse: ParseParameters;
}

/** Every kind of fault by its key in a rule's `do`. A new kind is a file in `kinds/` and a line here. */
const KINDS: ReadonlyMap<string, Kind> = new Map([
  kind('delay', delay),
  kind('exception', exception),
  kind('silence', silence),
  kind('junk', junk),
  kind('split', split),
  kind('change', change),
  kind('corrupt', corrupt),
  kind('crc', crc),
  kind('truncate', truncate),
  kind('extend', extend),
  kind('noise', noise),
  kind('unit', unit),
  kind('function', functionCode),
  kind('byteCount', byteCount),
  kind('transaction', transaction),
  kind('values', values),
  kind('duplicate', duplicate),
  kind('stale', stale),
  kind('early', early),
  kind('echo', echo),
  kind('gap', gap),
  kind('break', serialBreak),
  kind('close', close),
]);

/** The kind of fault that a key of `do` names, or undefined when there is none; `faultKinds` lists the known ones. */
export function faultParser(name: string): ParseParameters | undefined {
  return KINDS.get(name)?.parse;
}

export function faultKinds(): string[] {
  return [...KINDS.keys()];
}

/** What an entry of `do` looks like: one kind with its parameters. */
export function writtenFault(): z.ZodType {
  const kinds = Array.from(KINDS, ([name, { schema, does }]) =>
    z.strictObject({ [name]: schema }).describe(does),
  );
  return z
    .union(kinds)
    .meta({ id: 'Fault', description: 'One kind of fault. docs/faults.md explains each.' });
}

function kind<Parameters>(
  name: string,
  { does, schema, needs, prevents = false, apply }: FaultKind<Parameters>,
): [string, Kind] {
  const parse: ParseParameters = (input) => {
    const parsed = schema.safeParse(input, { reportInput: true });
    if (!parsed.success) return { ok: false, issues: parsed.error.issues };
    const fault: Fault = {
      kind: name,
      written: input,
      needs,
      prevents,
      apply: (plan, context) => apply(plan, parsed.data, context),
    };
    return { ok: true, fault };
  };
  return [name, { does, schema, parse }];
}
