import { parseArgs } from 'node:util';
import { nearest } from '../../schema/nearest.js';
import { quote } from '../../schema/problem.js';

/** Options by their names, as node:util.parseArgs takes them. */
export type OptionTable = Readonly<
  Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>
>;

/** The values of options by their names. The value of an option without one is an empty text. */
export type Values<Name extends string> = Readonly<Partial<Record<Name, string>>>;

/** What a command is given. */
export interface Given<Name extends string> {
  /** Of equal options the last one counts. */
  readonly values: Values<Name>;
  /** Every option and its value, in the order of the command line. */
  readonly options: readonly (readonly [name: string, value: string])[];
  /** What stands beside the options, without the name of the command. */
  readonly words: readonly string[];
  /** The token of REST in the environment. */
  readonly token: string | undefined;
  /** The runtime directory that the service manager has made for this service. */
  readonly runtimeDirectory: string | undefined;
}

/** Ends the message about an option or a command that does not exist, or not there. */
export const SEE_HELP = '(see modbus-sim --help)';

/** Splits a command line into options and the words beside them. @returns what is wrong, as a sentence */
export function scan<Table extends OptionTable>(
  args: readonly string[],
  table: Table,
): Omit<Given<keyof Table & string>, 'token' | 'runtimeDirectory'> | string {
  const { tokens } = parseArgs({
    args: [...args],
    options: table,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const options: [keyof Table & string, string][] = [];
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(table, name) ? table[name] : undefined;
    if (option === undefined) return unknownOption(rawName, Object.keys(table));
    if (option.type === 'boolean') {
      if (value !== undefined) return `${rawName} takes no value`;
      options.push([name, '']);
    } else {
      if (!value || (!inlineValue && value.startsWith('-'))) return `${rawName} needs a value`;
      options.push([name, value]);
    }
  }
  return { values: Object.fromEntries(options) as Values<keyof Table & string>, options, words };
}

function unknownOption(rawName: string, known: readonly string[]): string {
  const meant = nearest(rawName.replace(/^-+/, ''), known);
  const hint = meant === undefined ? '' : `, did you mean --${meant}?`;
  return `unknown option ${quote(rawName)}${hint} ${SEE_HELP}`;
}
