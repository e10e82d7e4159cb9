import { FIELD_NAMES, FIELDS } from './fields.js';
import type { FieldName } from './filter.js';
import { type FilterPart, parseFilter, unfinishedIn } from './parse.js';

/** What can be written at a position in a text. */
export interface Offer {
  /** What replaces the text between `from` and the position. */
  readonly text: string;
  readonly from: number;
  /** Its meaning, in a few words. */
  readonly about: string;
}

/** Values seen in fields, to be offered. */
export type SeenValues = Readonly<Partial<Record<FieldName, readonly string[]>>>;

const MOST_OFFERS = 12;

/** What can be written at the end of a text: fields, or values of the field being written. */
export function offersFor(text: string, seen: SeenValues): readonly Offer[] {
  const { from, field } = unfinishedIn(text);
  const written = text.slice(from).replace(/^"/, '').toLowerCase();
  // A mistake further to the left must be corrected first.
  if (/[\s()]/.test(text.slice(from)) && text[from] !== '"') return [];
  const offers = field === undefined ? fieldOffers(text) : valueOffers(field, seen);
  const fits = ([word, about]: readonly [string, string]) =>
    word.toLowerCase().startsWith(written) || (field !== undefined && about.toLowerCase().includes(written));
  return offers
    .filter((offer) => fits(offer) && offer[0].toLowerCase() !== written)
    .slice(0, field === undefined ? undefined : MOST_OFFERS)
    .map(([word, about]) => ({ from, about, text: field === undefined ? word : quoted(word) }));
}

function fieldOffers(text: string): readonly (readonly [string, string])[] {
  const fields = FIELD_NAMES.map((name) => {
    const { takes, alone, about } = FIELDS[name];
    if (alone) return [name, about] as const;
    return [takes === 'duration' ? `${name}>` : takes === 'value' ? `${name} ` : `${name}=`, about] as const;
  });
  const words = text.trim() === '' ? [] : ([['or', 'either side']] as const);
  return [...fields, ['not', 'events that do not match the expression that follows'], ...words];
}

function valueOffers(field: FieldName, seen: SeenValues): readonly (readonly [string, string])[] {
  const { names, choices = [] } = FIELDS[field];
  const values = (seen[field] ?? []).map((value) => [value, names?.get(Number(value)) ?? ''] as const);
  const known = [...(names ?? [])].filter(([code]) => code >= 0 && !seen[field]?.includes(String(code)));
  return [
    ...values,
    ...choices.map((choice) => [choice, ''] as const),
    ...known.map(([code, name]) => [String(code), name] as const),
  ];
}

/** A value in the syntax of a filter, quoted if necessary. */
function quoted(value: string): string {
  return /^[^\s,()"]+$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`;
}

/** A field with values in the syntax of a filter: `line=bus,"second, line"`. */
function partText(field: FieldName, values: readonly string[]): string {
  return `${field}=${values.map(quoted).join()}`;
}

/** The only part of a text that tests a field; undefined if there are none or several. */
export function partOf(text: string, field: FieldName): FilterPart | undefined {
  const parsed = parseFilter(text, { now: 0 });
  const parts = parsed.ok ? parsed.value.parts.filter((part) => part.field === field) : [];
  return parts.length === 1 ? parts[0] : undefined;
}

/**
 * Replaces the values of a field in a text; the other conditions stay.
 * @param values empty to remove the field; undefined to test only that it is there
 */
export function withPart(text: string, field: FieldName, values: readonly string[] | undefined): string {
  const parsed = parseFilter(text, { now: 0 });
  const others = parsed.ok && parsed.value.isOr ? `(${text})` : text;
  const written = values === undefined ? field : values.length === 0 ? '' : partText(field, values);
  const part = partOf(text, field);
  if (!part) return [others.trim(), written].filter(Boolean).join(' ');
  const [before, after] = [text.slice(0, part.from).trimEnd(), text.slice(part.to).trimStart()];
  return [before, written, after].filter(Boolean).join(' ');
}
