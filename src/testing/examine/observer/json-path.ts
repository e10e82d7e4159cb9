/** A step into a JSON value: the name of a member, or an index of an array. */
export type JsonPath = readonly (string | number)[];

const STEP = /\.?([^.[\]]+)|\[(\d{1,9})\]/y;

/**
 * Reads a path like `a.b[0]`.
 * @returns undefined when it is none
 */
export function readJsonPath(text: string): JsonPath | undefined {
  const steps: (string | number)[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const [, name, index] = STEP.exec(text) ?? [];
    if (name !== undefined) steps.push(name);
    else if (index !== undefined) steps.push(Number(index));
    else return undefined;
  }
  return text.startsWith('.') ? undefined : steps;
}

/** What is at a path; undefined when nothing is. Only own members count. */
export function atJsonPath(value: unknown, path: JsonPath): unknown {
  return path.reduce<unknown>((inner, step) => {
    if (typeof step === 'number') return Array.isArray(inner) ? inner[step] : undefined;
    const isMember = typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step);
    return isMember ? (inner as Readonly<Record<string, unknown>>)[step] : undefined;
  }, value);
}
