/** A mapping of a file. */
export type Section = Readonly<Record<string, unknown>>;

export function sectionOf(value: unknown): Section | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Section)
    : undefined;
}

/** The mappings of a list, or the one mapping that stands in its place. */
export function sectionsOf(value: unknown): Section[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.map(sectionOf).filter((item) => item !== undefined);
}

/** A text or a number as text; undefined for anything else. */
export function wordOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}

/** A number that a file gives as number or as decimal or hexadecimal text; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string' || value.length > 40 || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}
