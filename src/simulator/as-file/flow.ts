/** Text that YAML reads as text without quotes: words and paths without special meaning. */
const PLAIN = /^[A-Za-z_/][\w./-]*(?: [\w./-]+)*$/;
const OTHER_MEANING = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
const WHOLE = /^(?:0|[1-9]\d{0,8})$/;

/**
 * A value as YAML in one line: `{address: 0, value: [1,2]}`. Takes what a file can hold: mappings, lists,
 * text, numbers, bigints, true, false and null. Undefined members of a mapping are left out.
 */
export function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(',')}]`;
  switch (typeof value) {
    case 'string':
      return textOf(value);
    case 'number':
      return numberOf(value);
    case 'object':
      return value === null ? 'null' : mappingOf(value);
    default:
      return String(value);
  }
}

/** A key of a mapping. Whole numbers, such as the unit identifiers of a line, need no quotes. */
export function key(name: string): string {
  return WHOLE.test(name) ? name : textOf(name);
}

function mappingOf(mapping: object): string {
  const members = Object.entries(mapping).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${key(name)}: ${flow(member)}`).join(', ')}}`;
}

/** Text in quotes is written as in JSON, which YAML understands. */
function textOf(text: string): string {
  return PLAIN.test(text) && !OTHER_MEANING.test(text) ? text : JSON.stringify(text);
}

function numberOf(number: number): string {
  if (Number.isNaN(number)) return '.nan';
  if (!Number.isFinite(number)) return number > 0 ? '.inf' : '-.inf';
  // YAML would read -0 as the integer 0, and integers that a number may not hold exactly as others than numbers.
  if (Object.is(number, -0)) return '-0.0';
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? number.toExponential() : String(number);
}
