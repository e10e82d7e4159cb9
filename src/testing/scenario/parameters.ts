import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping } from '../../common/schema/parts.js';
import { quote } from '../../common/schema/problem.js';

/** Values by the names of parameters. */
export type Parameters = ReadonlyMap<string, string | number | boolean>;

const NAME = /^[A-Za-z_]\w{0,63}$/;
const REFERENCE = /\$([A-Za-z_]\w*)/g;
const WHOLE_REFERENCE = /^\$([A-Za-z_]\w*)$/;

/**
 * Reads the declared parameters with their first values, and sets them as `--set name=value` asks.
 * @param at the section `parameters`
 * @param settings texts of the form `name=value`
 * @returns `wrong` has the mistakes in the settings; those in the section are reported
 */
export function readParameters(at: At, settings: readonly string[]): { values: Parameters; wrong: string[] } {
  const values = new Map<string, string | number | boolean>();
  const declared =
    at.value === undefined ? [] : (at.entries('first values by the names of parameters') ?? []);
  for (const [name, { value }] of declared) {
    if (!NAME.test(name)) at.key(name).wrong('expected a name of letters, digits and underscores');
    else if (isScalar(value)) values.set(name, value);
    else at.key(name).expected('text, a number, true or false');
  }
  const wrong: string[] = [];
  for (const setting of settings) {
    const equals = setting.indexOf('=');
    const name = setting.slice(0, Math.max(0, equals));
    if (equals < 1) wrong.push(`--set: expected name=value, got ${quote(setting)}`);
    else if (!values.has(name)) wrong.push(`--set: ${unknownName('parameter', name, [...values.keys()])}`);
    else values.set(name, scalarOf(setting.slice(equals + 1)));
  }
  return { values, wrong };
}

/**
 * Replaces `$name` in the input by the value of the parameter. A text that is `$name` and nothing else
 * becomes the value itself; in a longer text an unknown name stays as it is, because a command line has
 * variables of its own.
 */
export function withParameters(input: unknown, parameters: Parameters): unknown {
  if (typeof input === 'string') return replaced(input, parameters);
  if (Array.isArray(input)) return input.map((each) => withParameters(each, parameters));
  if (!isMapping(input)) return input;
  const result: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(input)) {
    result[String(replaced(key, parameters))] = withParameters(value, parameters);
  }
  return result;
}

/** Reports each text that is `$name` and nothing else, when no parameter has this name. */
export function reportUnknownParameters(at: At, parameters: Parameters): void {
  const { value } = at;
  if (typeof value === 'string') {
    const name = WHOLE_REFERENCE.exec(value)?.[1];
    if (name !== undefined && !parameters.has(name))
      at.wrong(unknownName('parameter', name, [...parameters.keys()]));
  } else if (Array.isArray(value)) {
    value.forEach((_, i) => {
      reportUnknownParameters(at.key(i), parameters);
    });
  } else if (isMapping(value)) {
    for (const key of Object.keys(value)) reportUnknownParameters(at.key(key), parameters);
  }
}

function replaced(text: string, parameters: Parameters): string | number | boolean {
  const name = WHOLE_REFERENCE.exec(text)?.[1];
  const value = name === undefined ? undefined : parameters.get(name);
  if (value !== undefined) return value;
  return text.replace(REFERENCE, (reference, each: string) => String(parameters.get(each) ?? reference));
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** Reads a value of the command line as YAML would. */
function scalarOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text;
}
