import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping } from '../../common/schema/parts.js';
import { type Condition, hintAtQuantities } from '../../device/faults/condition.js';
import { resolveNames } from '../../device/faults/rule.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { Matcher } from './matcher.js';
import { addressText } from './nearest-miss.js';
import { oneOrMore } from './one-or-more.js';
import type { Forbidden } from './scenario.js';
import { type MatcherSource, neverSchema } from './schema.js';
import { GOOD } from './seen.js';
import { readWrites } from './wanted-write.js';

/** Keys that are not listed in the text of a matcher: they say how often and when, or are worded apart. */
const NOT_OF_REQUESTS = new Set([
  'same',
  'retry',
  'times',
  'after',
  'every',
  'tolerance',
  'for',
  'response',
  'write',
]);

/**
 * Makes the matcher written at `at`, whose schema has been checked. Undefined after reporting what this
 * simulator does not have.
 */
export function toMatcher(
  at: At,
  { write, response, line, unit, function: code, address, name, quantity }: MatcherSource,
  simulator: Simulator,
): Matcher | undefined {
  return at.unlessWrong(() => {
    for (const each of line === undefined ? [] : [line].flat()) {
      if (!simulator.lines.has(each))
        at.key('line').wrong(unknownName('line', each, [...simulator.lines.keys()]));
    }
    if (address !== undefined && name !== undefined) at.wrong('expected either address or name');
    hintAtQuantities(quantity, at.key('quantity'));
    const named = resolveNames({ name: 'expect', when: { name }, faults: [] }, simulator.findValue);
    if (!named.ok) at.key('name').wrong(named.error.message);
    const writes = write === undefined ? [] : readWrites(at.key('write'), simulator);
    return {
      text: matcherText(at.value),
      condition: { line, unit, function: code, address, quantity },
      ...(named.ok && named.value.values && { values: named.value.values }),
      writes: writes ?? [],
      ...(response && { exceptions: response === 'ok' ? [GOOD] : [response.exception].flat() }),
    };
  });
}

/** Reads `never`: one matcher or a list of them, each with how often it must not come. */
export function readForbidden(at: At, simulator: Simulator): Forbidden[] {
  const items = oneOrMore(at);
  if (items?.length === 0) at.wrong('expected at least one');
  return (items ?? []).flatMap((each) => {
    const source = each.check(neverSchema) ?? each.fitting(neverSchema);
    const matcher = toMatcher(each, source, simulator);
    return matcher ? { matcher, times: source.times ?? 1 } : [];
  });
}

/** Puts checked input into words: `a request with unit 1, function 3 or 4`. */
function matcherText(input: unknown): string {
  // What is no mapping was reported, and is put into words all the same.
  const source: Readonly<Record<string, unknown>> = isMapping(input) ? input : {};
  const parts = Object.entries(source)
    .filter(([key]) => !NOT_OF_REQUESTS.has(key))
    .map(([key, value]) => `${key} ${listText(key, value)}`);
  const write = writeText(source.write);
  const of = parts.length === 0 ? '' : ` ${write === undefined ? 'with' : 'to'} ${parts.join(', ')}`;
  return `${write ?? 'a request'}${of}${responseText(source.response)}`;
}

function listText(key: string, value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  if (key === 'address') return addressText(value as Condition['address']);
  return value.join(' or ');
}

function writeText(write: unknown): string | undefined {
  if (write === undefined) return undefined;
  if (typeof write === 'string') return `a write of ${write}`;
  const parts = Object.entries(write as object).map(([key, value]) => `${key} = ${String(value)}`);
  return `a write of ${parts.join(', ')}`;
}

function responseText(response: unknown): string {
  if (response === 'ok') return ', answered well';
  const { exception } = (response ?? {}) as { readonly exception?: unknown };
  return exception === undefined ? '' : `, answered with exception ${[exception].flat().join(' or ')}`;
}
