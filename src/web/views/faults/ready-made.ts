/** Rules that engineers often want. They fill the form; what is aimed at stays. */
export interface ReadyMade {
  readonly title: string;
  /** What the rule is called, with a number where there is one already. */
  readonly name: string;
  readonly when: Readonly<Record<string, unknown>>;
  readonly do: readonly Readonly<Record<string, unknown>>[];
}

export const READY_MADE: readonly ReadyMade[] = [
  { title: 'Wrong CRC once', name: 'wrong-crc', when: { count: 1 }, do: [{ crc: 'invert' }] },
  { title: 'No reply once', name: 'no-reply', when: { count: 1 }, do: [{ silence: true }] },
  { title: 'Late reply once', name: 'late-reply', when: { count: 1 }, do: [{ delay: '2s' }] },
  { title: 'Busy 3 times', name: 'busy', when: { count: 3 }, do: [{ exception: 6 }] },
  {
    title: 'Duplicate once',
    name: 'duplicate',
    when: { count: 1 },
    do: [{ duplicate: { times: 1, gap: 20 } }],
  },
  { title: 'Gap in the middle', name: 'gap', when: { count: 1 }, do: [{ split: { at: 'middle', gap: 50 } }] },
  { title: 'Cut off once', name: 'cut-off', when: { count: 1 }, do: [{ truncate: -2 }] },
  { title: 'Slow device', name: 'slow', when: {}, do: [{ delay: { ms: 500, jitter: 100 } }] },
  { title: 'Flaky line', name: 'flaky', when: { probability: 0.2 }, do: [{ corrupt: 2 }] },
  { title: 'Dead for 20 s', name: 'dead', when: { for: '20s' }, do: [{ silence: true }] },
];

/** A name that no rule has. */
export function freeName(name: string, taken: readonly string[]): string {
  let free = name;
  for (let i = 2; taken.includes(free); i++) free = `${name}-${i}`;
  return free;
}

/** Conditions that say how often and when, and not which requests. */
const NO_AIM = ['after', 'every', 'count', 'probability', 'from', 'for'];

/** A ready-made rule that is aimed as the one in the form is. */
export function aimed(
  { name, when, do: faults }: ReadyMade,
  current: Readonly<Record<string, unknown>>,
  taken: readonly string[],
): object {
  const aim = Object.entries(current).filter(([key]) => !NO_AIM.includes(key));
  return { name: freeName(name, taken), when: { ...Object.fromEntries(aim), ...when }, do: faults };
}

/** What the conditions of a rule take from a request. */
interface Aimable {
  readonly line: string;
  readonly unit?: number | undefined;
  readonly function?: number | undefined;
  readonly address?: number | undefined;
  readonly quantity?: number | undefined;
}

/** The conditions under which a rule acts on the next request that is like this one, once. */
export function likeThis({ line, unit, function: code, address, quantity }: Aimable): object {
  const conditions = { line, unit, function: code, address, quantity, count: 1 };
  return Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined));
}
