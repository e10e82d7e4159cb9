import type { RegisterView } from '../../../../simulator/commands/schemas/value.js';

/** What a card shows: a value by name, or a part of a table. */
export interface WatchedPart {
  /** In the form of the page's address: `meter.voltage`, `meter/holding/0-9`, `meter/holding/7`, `meter/coils`. */
  readonly key: string;
  readonly device: string;
  readonly part:
    | { readonly name: string }
    | { readonly table: string; readonly from: number; readonly to: number };
}

/** Maximum number of cards; more would be neither seen nor read each second. */
export const MOST_CARDS = 24;
const MOST_ROWS = 64;

/**
 * Parses the text of a card; undefined if it has no meaning.
 * @param devices the names of known devices: these, and names of values, may contain dots
 */
export function watchedOf(key: string, devices: readonly string[] = []): WatchedPart | undefined {
  const [, device = '', table = '', first = '0', last] =
    /^([^/]+)\/(coils|discrete|input|holding)(?:\/(\d{1,5})(?:-(\d{1,5}))?)?$/.exec(key) ?? [];
  if (device !== '') {
    const from = Number(first);
    const to = last === undefined ? (key.split('/').length > 2 ? from : MOST_ROWS - 1) : Number(last);
    return to < from
      ? undefined
      : { key, device, part: { table, from, to: Math.min(to, from + MOST_ROWS - 1) } };
  }
  const owners = devices.filter((name) => key.startsWith(`${name}.`)).map(({ length }) => length);
  const dot = owners.length > 0 ? Math.max(...owners) : key.indexOf('.');
  const [owner, name] = [key.slice(0, dot), key.slice(dot + 1)];
  return dot > 0 && name !== '' && !key.includes('/') ? { key, device: owner, part: { name } } : undefined;
}

/** The cards of a list in the page's address, without duplicates. */
export function watchList(text: string, devices: readonly string[] = []): readonly WatchedPart[] {
  const keys = [...new Set(text.split(',').map((key) => key.trim()))];
  return keys.flatMap((key) => watchedOf(key, devices) ?? []).slice(0, MOST_CARDS);
}

/** Selects a device's values with these names. */
export function valuesFor(
  { part }: WatchedPart,
  registers: readonly RegisterView[],
): readonly RegisterView[] {
  return 'name' in part ? registers.filter(({ name }) => name === part.name) : registers;
}

/** A request for registers of a device, and the cards that it is for. */
export interface Question {
  readonly device: string;
  readonly query: Readonly<Record<string, string>>;
  readonly cards: readonly WatchedPart[];
}

/** The requests for the cards: one for all named values of a device, and one for each part of a table. */
export function questionsOf(list: readonly WatchedPart[]): readonly Question[] {
  const named = new Map<string, WatchedPart[]>();
  const questions: Question[] = [];
  for (const card of list) {
    const { device, part } = card;
    if ('name' in part) named.set(device, [...(named.get(device) ?? []), card]);
    else {
      const query = { table: part.table, from: String(part.from), to: String(part.to) };
      questions.push({ device, query, cards: [card] });
    }
  }
  for (const [device, cards] of named) {
    const names = cards.map(({ part }) => ('name' in part ? part.name : ''));
    questions.push({ device, query: { names: names.join(',') }, cards });
  }
  return questions;
}
