/** A mapping of a YAML file. */
export type Section = Readonly<Record<string, unknown>>;

export function sectionOf(value: unknown): Section | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Section)
    : undefined;
}

/** With what its merge keys of YAML 1.1 name, which Home Assistant follows. */
export function withMerged(entity: Section): Section {
  const merged = entity['<<'];
  const parts: readonly unknown[] = Array.isArray(merged) ? merged : [merged];
  // Without a prototype, so that any name is just a name.
  return Object.assign(Object.create(null), ...parts.map((part) => sectionOf(part) ?? {}), entity) as Section;
}

/** A text or a number as text; undefined for anything else. */
export function wordOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}
