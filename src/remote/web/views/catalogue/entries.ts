import type { CatalogueView } from '../../../../simulator/commands/schemas/catalogue.js';
import type { LineView } from '../../../../simulator/commands/schemas/line.js';

export type Entry = CatalogueView['catalogue'][number];

/** The parts of the running setup that an entry may have caused. */
export interface MayPlay {
  readonly lines: readonly Pick<LineView, 'name' | 'settings' | 'manners'>[];
  /** The names of all fault rules. */
  readonly rules: readonly string[];
}

/** The entries with all these words in their texts, or in what they do. */
export function entriesWith(entries: readonly Entry[], search: string): readonly Entry[] {
  const words = search.toLowerCase().split(/\s+/);
  return entries.filter((entry) => {
    const text = JSON.stringify(entry).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/**
 * Who currently does what an entry describes: devices because of their manners, devices or lines because of
 * their rules, and lines because of their settings.
 */
export function whoPlays(
  { id, manners, line: settings, faults }: Entry,
  { lines, rules }: MayPlay,
): readonly string[] {
  const devices = lines.flatMap((line) => Object.entries(line.manners));
  // If an entry has several rules, the name of each one ends with its name in the entry. A device name may
  // contain dots.
  const ends = faults.length > 1 ? faults.map(({ name }) => `.${name}`) : [];
  const end = (rule: string) => ends.find((each) => rule.endsWith(each))?.length ?? 0;
  return [
    ...new Set([
      ...rules
        .filter((rule) => rule.startsWith(`${id}.`))
        .map((rule) => rule.slice(id.length + 1, -end(rule) || undefined)),
      ...devices.filter(([, own]) => manners && hasAll(own, manners)).map(([name]) => name),
      ...lines.filter((line) => settings && hasAll(line.settings, settings)).map(({ name }) => name),
    ]),
  ];
}

/** The entries that something on a line imitates. */
export function playedOn<Line extends MayPlay['lines'][number] & Pick<LineView, 'units'>>(
  line: Line,
  entries: readonly Entry[],
  rules: readonly string[],
): readonly Entry[] {
  const here = new Set([line.name, ...Object.values(line.units)]);
  return entries.filter((entry) => whoPlays(entry, { lines: [line], rules }).some((name) => here.has(name)));
}

/** True if an object has these keys with these values, in nested objects as well. */
function hasAll(has: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return has === wanted;
  if (typeof has !== 'object' || has === null) return false;
  return Object.entries(wanted).every(([key, value]) => hasAll((has as Record<string, unknown>)[key], value));
}
