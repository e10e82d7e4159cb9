/** A frequent rule, ready-made. It fills the form and keeps the conditions that select requests. */
export interface ReadyMade {
  /** The title. In small letters it is the name of the rule; a number is added if the name is taken. */
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

/** A ready-made rule with the conditions of the rule in the form that select requests. */
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
