import { failure, type Result, success } from '../common/result.js';
import type { FaultRule } from '../device/faults/rule.js';
import { inOrder } from './devices.js';
import { isSameRule, type Simulator } from './simulator.js';
import { type Edit, edited, type Outline, outlineNow } from './wanted.js';

/** What a command has changed: the configuration before it and after it. */
export interface Change {
  readonly before: Outline;
  readonly after: Outline;
}

/** The last change by a command in each simulator. */
const lastChanges = new WeakMap<Simulator, Change>();

export function lastChangeOf(simulator: Simulator): Change | undefined {
  return lastChanges.get(simulator);
}

/** The outcome of a command. */
interface Tried {
  readonly ok: boolean;
}

/** Wraps a command that changes the configuration, so that `undo` can undo it. */
export function undoable<Context extends { readonly simulator: Simulator }, Input, Outcome extends Tried>(
  run: (context: Context, input: Input) => Outcome | Promise<Outcome>,
) {
  return (context: Context, input: Input): Outcome | Promise<Outcome> => {
    const { simulator } = context;
    const before = outlineNow(simulator);
    const note = (outcome: Outcome) => {
      if (outcome.ok) lastChanges.set(simulator, { before, after: outlineNow(simulator) });
      return outcome;
    };
    const outcome = run(context, input);
    return outcome instanceof Promise ? outcome.then(note) : note(outcome);
  };
}

const SINCE = 'has been changed again since';

/** Returns the setup with a change undone. Later changes by others stay; the error says what no longer fits. */
export async function without(simulator: Simulator, { before, after }: Change): Promise<Result<Outline>> {
  const edits = [
    ...editsBack('line', before.lines, after.lines, ({ lines }) => lines),
    ...editsBack('device', before.devices, after.devices, ({ devices }) => devices),
    ruleEdit(before.rules, after.rules),
  ];
  const staying = [...simulator.devices.keys()].filter(
    (name) => before.devices.has(name) || !after.devices.has(name),
  );
  const { wanted, refused } = await edited(simulator, edits, new Set(staying));
  for (const [{ what }, why] of refused) return failure(`${what}: ${why}`);
  inOrder(wanted.lines, [...before.lines.keys()]);
  inOrder(wanted.devices, [...before.devices.keys()]);
  return success(wanted);
}

/** Gives lines or devices their earlier definitions. */
function editsBack<Definition extends { readonly name: string; readonly copyOf?: string }>(
  kind: string,
  before: ReadonlyMap<string, Definition>,
  after: ReadonlyMap<string, Definition>,
  partOf: (wanted: Outline) => Map<string, Definition>,
): Edit[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return Array.from(names).flatMap((name) => {
    const [was, became] = [before.get(name), after.get(name)];
    if (was === became) return [];
    const what = `${kind} ${name}`;
    const make = (wanted: Outline) => {
      const part = partOf(wanted);
      // Copies are added and removed by their lines.
      const isCopy = became?.copyOf !== undefined;
      if (!isCopy && part.get(name) !== became) return SINCE;
      if (was) part.set(name, was);
      else if (!isCopy) part.delete(name);
      return undefined;
    };
    return [{ what, step: what, make }];
  });
}

/** Restores the rules that differ, in their earlier places. */
function ruleEdit(before: readonly FaultRule[], after: readonly FaultRule[]): Edit {
  const [was, became] = [before, after].map((rules) => new Map(rules.map((rule) => [rule.name, rule])));
  const isChanged = (name: string) => !isSame(was?.get(name), became?.get(name));
  const what = 'fault rules';
  return {
    what,
    step: what,
    make(wanted) {
      const now = new Map(wanted.rules.map((rule) => [rule.name, rule]));
      const names = new Set([
        ...before.map(({ name }) => name),
        ...after.map(({ name }) => name),
        ...now.keys(),
      ]);
      for (const name of names)
        if (isChanged(name) && !isSame(now.get(name), became?.get(name))) return `${name} ${SINCE}`;
      wanted.rules = Array.from(names).flatMap((name) => (isChanged(name) ? was : now)?.get(name) ?? []);
      return undefined;
    },
  };
}

function isSame(one: FaultRule | undefined, other: FaultRule | undefined): boolean {
  return one === other || (other !== undefined && isSameRule(one, other));
}
