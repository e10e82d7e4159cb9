import type { SignalKindView } from '../../../control/schemas/value.js';

/** What JSON Schema says of one parameter. */
interface ParameterSchema {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly ParameterSchema[];
  readonly properties?: Readonly<Record<string, ParameterSchema>>;
  readonly required?: readonly string[];
}

/** A field of the form of a signal. */
export interface Parameter {
  readonly name: string;
  readonly isRequired: boolean;
  /** What holds without it. */
  readonly hint: string | undefined;
  readonly choices: readonly string[] | undefined;
  /** Both ends, where the schema has both: such a parameter is a slider. */
  readonly range: readonly [number, number] | undefined;
}

/** The parameter of a kind that has one without a name: an expression, a list of steps. */
export const WHOLE = '';

/** The fields of a kind of signal, from its schema. */
export function parametersOf({ schema }: SignalKindView): readonly Parameter[] {
  const { properties, required = [] } = schema as ParameterSchema;
  if (!properties)
    return [{ name: WHOLE, isRequired: true, hint: undefined, choices: undefined, range: undefined }];
  return Object.entries(properties).map(([name, each]) => {
    const { minimum, maximum, default: usual } = each;
    const range = minimum !== undefined && maximum !== undefined ? ([minimum, maximum] as const) : undefined;
    const choices = each.enum?.map(String);
    const isTime = each.anyOf?.some(({ type }) => type === 'string') === true && each.anyOf.length > 1;
    const notes = [isTime ? '250ms, 20s, 5m' : '', usual === undefined ? '' : `usually ${String(usual)}`];
    return {
      name,
      isRequired: required.includes(name),
      hint: notes.filter((note) => note !== '').join('; ') || undefined,
      choices: choices && (required.includes(name) ? choices : ['', ...choices]),
      range,
    };
  });
}

/** What the fields begin with. @param written the parameters of the signal that moves the value now */
export function textsOf(
  parameters: readonly Parameter[],
  written: unknown,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    parameters.map(({ name }) => {
      const value =
        name === WHOLE ? written : (written as Readonly<Record<string, unknown>> | undefined)?.[name];
      return [name, typeof value === 'object' ? JSON.stringify(value) : String(value ?? '')];
    }),
  );
}

/** What the fields say, as the server takes it; an empty field is left out. */
export function writtenOf(texts: Readonly<Record<string, string>>): unknown {
  const whole = texts[WHOLE];
  if (whole !== undefined) return meantBy(whole);
  const entries = Object.entries(texts).filter(([, text]) => text.trim() !== '');
  return Object.fromEntries(entries.map(([name, text]) => [name, meantBy(text)]));
}

/** A number, a list or an object; any other text is text. */
function meantBy(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
