import { counted } from '../../../../common/words.js';
import { THEN } from '../../../../device/faults/then.js';
import type { RuleView } from '../../../../simulator/commands/schemas/fault.js';
import { durationText } from '../../../../testing/report/words.js';

/** A rule in the form that users write, without counts and state. */
export function written({ name, enabled, when, schedule, do: faults, seed, ...others }: RuleView): object {
  const becomes = others[THEN];
  return {
    ...{ name, ...(!enabled && { enabled }), when, ...(schedule && { schedule }) },
    ...(faults.length > 0 && { do: faults }),
    ...(becomes && { [THEN]: becomes }),
    seed,
  };
}

/** The state of a rule. `spent`: it has acted as often as it may. `not now`: outside its times. */
export function stateOf({ enabled, open, remaining }: RuleView): 'armed' | 'not now' | 'spent' | 'off' {
  if (!enabled) return 'off';
  if (remaining === 0) return 'spent';
  return open ? 'armed' : 'not now';
}

/** Formats the conditions of a rule: `line lan · function 3, 4 · count 1`. */
export function conditionText({ when, schedule }: Pick<RuleView, 'when' | 'schedule'>): string {
  const parts = Object.entries(when).map(
    ([key, value]) => `${key} ${valueText(TIMES.has(key) ? inUnits(value) : value)}`,
  );
  if (schedule) parts.push(`schedule ${schedule.map((window) => valueText(inUnits(window))).join(', ')}`);
  return parts.length > 0 ? parts.join(' · ') : 'every request';
}

/** The conditions that are times or time limits, in ms. */
const TIMES = new Set(['from', 'for', 'connected', 'pause']);

/** Adds units to times in ms, including those in a mapping: `250 ms`, `20 s`. */
function inUnits(value: unknown): unknown {
  if (typeof value === 'number') return durationText(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inUnits(each)]));
}

/** Formats the state that a rule puts its device into: `then state wrote for 5 s`. Empty without one. */
export function thenText(rule: Pick<RuleView, typeof THEN>): string {
  const { state, for: ms, requests } = rule[THEN] ?? {};
  if (state === undefined) return '';
  const time = ms === undefined ? '' : ` for ${inUnits(ms)}`;
  return `then state ${state}${time}${requests === undefined ? '' : ` for ${counted(Number(requests), 'request')}`}`;
}

/** Formats the faults of a rule: `delay 250, crc invert`. */
export function faultsText({ do: faults }: Pick<RuleView, 'do'>): string {
  const parts = faults
    .flatMap((fault) => Object.entries(fault))
    .map(([kind, value]) => (value === true ? kind : `${kind} ${valueText(value)}`));
  return listText(parts);
}

/** Maximum number of parts shown of a list; the others are counted. The form shows all of them. */
const MOST_PARTS = 12;

/** Formats a list: `a, b … 40 more`. */
function listText(parts: readonly string[]): string {
  const more = parts.length - MOST_PARTS;
  return more > 0 ? `${parts.slice(0, MOST_PARTS).join(', ')} … ${more} more` : parts.join(', ');
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return listText(value.map(valueText));
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value).map(([key, each]) => `${key} ${valueText(each)}`);
  return `(${parts.join(', ')})`;
}

/** A template for a frequent rule. It fills the form, but keeps the conditions that select requests. */
interface ReadyMade {
  /** The title. In lower case it is the name of the rule; a number is added if the name is taken. */
  readonly title: string;
  readonly when: Readonly<Record<string, unknown>>;
  readonly do: readonly Readonly<Record<string, unknown>>[];
}

export const READY_MADE: readonly ReadyMade[] = [
  { title: 'Wrong CRC once', when: { count: 1 }, do: [{ crc: 'invert' }] },
  { title: 'No reply once', when: { count: 1 }, do: [{ silence: true }] },
  { title: 'Late reply once', when: { count: 1 }, do: [{ delay: '2s' }] },
  { title: 'Busy 3 times', when: { count: 3 }, do: [{ exception: 6 }] },
  {
    title: 'Duplicate once',
    when: { count: 1 },
    do: [{ duplicate: { times: 1, gap: 20 } }],
  },
  { title: 'Gap in the middle', when: { count: 1 }, do: [{ split: { at: 'middle', gap: 50 } }] },
  { title: 'Cut off once', when: { count: 1 }, do: [{ truncate: -2 }] },
  { title: 'Slow device', when: {}, do: [{ delay: { ms: 500, jitter: 100 } }] },
  { title: 'Flaky line', when: { probability: 0.2 }, do: [{ corrupt: 2 }] },
  { title: 'Dead for 20 s', when: { for: '20s' }, do: [{ silence: true }] },
];

/** A name that no rule has yet. */
export function freeName(name: string, taken: readonly string[]): string {
  let free = name;
  for (let i = 2; taken.includes(free); i++) free = `${name}-${i}`;
  return free;
}

/** Conditions on number and time, which do not select requests. */
const NO_AIM = ['after', 'every', 'count', 'probability', 'from', 'for'];

/** A template with those conditions of the form's rule that select requests. */
export function aimed(
  { title, when, do: faults }: ReadyMade,
  current: Readonly<Record<string, unknown>>,
  taken: readonly string[],
): object {
  const aim = Object.entries(current).filter(([key]) => !NO_AIM.includes(key));
  const name = title.toLowerCase().replaceAll(' ', '-');
  return { name: freeName(name, taken), when: { ...Object.fromEntries(aim), ...when }, do: faults };
}

/** The fields of a request that conditions use. */
interface Aimable {
  readonly line: string;
  readonly unit?: number | undefined;
  readonly function?: number | undefined;
  readonly address?: number | undefined;
  readonly quantity?: number | undefined;
}

/** Conditions under which a rule acts once, on the next request like this one. */
export function likeThis({ line, unit, function: code, address, quantity }: Aimable): object {
  const conditions = { line, unit, function: code, address, quantity, count: 1 };
  return Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined));
}
