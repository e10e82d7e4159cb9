import { parseArgs } from 'node:util';
import { failure, type Result, success } from '../../../common/result.js';
import { nearest } from '../../../common/schema/nearest.js';
import { expectedMessage, quote } from '../../../common/schema/problem.js';

/** An option as node:util.parseArgs expects it, and how its text is read. */
export interface Option<Value = unknown, Type = 'string' | 'boolean'> {
  readonly type: Type;
  readonly short?: string;
  /** Returns the value that a text represents; undefined if the text is not valid. */
  readonly read: (text: string) => Value | undefined;
  /** The words that follow "expected" in a message about an invalid text. */
  readonly expected?: string;
  /** The placeholder for the value in the help, such as `FILE`; absent for an option without a value. */
  readonly value?: string;
  /** The valid words, if there are only a few. */
  readonly choices?: readonly string[];
  /** The sentence of the help; absent for an option that the help does not show. */
  readonly help?: string;
}

export type OptionTable = Readonly<Record<string, Option>>;

export type Values<Table extends OptionTable> = {
  readonly [Name in keyof Table]?: Table[Name] extends Option<infer Value> ? Value : never;
};

/** Options and their texts, in the order on the command line. The text of an option without a value is empty. */
export type WrittenOptions = readonly (readonly [name: string, text: string])[];

/** The input to a command's parser. */
export interface Given<Table extends OptionTable> {
  /** Values by name. If an option is repeated, its last value counts. */
  readonly values: Values<Table>;
  readonly options: WrittenOptions;
  /** The words on the command line that are not options, without the command's name. */
  readonly words: readonly string[];
  /** The REST token from the environment. */
  readonly token: string | undefined;
  /** The runtime directory that the service manager created for this service. */
  readonly runtimeDirectory: string | undefined;
}

/** The help text of a named command. */
export interface Described {
  readonly name: string;
  /** The words that follow the name, such as `FILE...`; empty if there are none. */
  readonly words: string;
  /** The choices for the first of these words; absent if it may be any word. */
  readonly choices?: readonly string[];
  /** What the command does: one line in the list of all commands. */
  readonly summary: string;
  /** Everything else that a user needs to know, in sentences. */
  readonly details: string;
  /** What to type after the program's name to use the command. */
  readonly examples: readonly string[];
  readonly options: OptionTable;
}

export interface NamedCommand<Table extends OptionTable, Command> extends Described {
  /** The options that the command accepts. Others are rejected before `parse` is called. */
  readonly options: Table;
  /** @returns the command, or a sentence that says what is wrong */
  parse(given: Given<Table>): Result<Command>;
}

/** Infers the command's type, so that `parse` knows the types of its options. */
export function command<Table extends OptionTable, Command>(
  named: NamedCommand<Table, Command>,
): NamedCommand<Table, Command> {
  return named;
}

/**
 * The end of a usage error message: where to find help.
 * @param name command whose options the help explains; without a name, the list of all commands
 */
export function seeHelp(name?: string): string {
  return name === undefined ? '(see modbus-sim --help)' : `(see modbus-sim help ${name})`;
}

/**
 * Splits a command line into options and other words.
 * @param command name of the command, for messages
 * @returns the parts, or a sentence that says what is wrong
 */
export function scan(
  args: readonly string[],
  table: OptionTable,
  command: string | undefined,
): Result<{ readonly options: WrittenOptions; readonly words: readonly string[] }> {
  const { tokens } = parseArgs({
    args: [...args],
    options: table,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const options: [string, string][] = [];
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(table, name) ? table[name] : undefined;
    if (option === undefined)
      return failure(`${unknownOption(rawName, Object.keys(table))} ${seeHelp(command)}`);
    if (option.type === 'boolean') {
      if (value !== undefined) return failure(`${rawName} takes no value`);
      options.push([name, '']);
    } else {
      if (!value || (!inlineValue && /^-./.test(value))) return failure(`${rawName} needs a value`);
      options.push([name, value]);
    }
  }
  return success({ options, words });
}

/** Reads the values of a table's options. @returns them, or a sentence that says what is wrong */
export function valuesOf<Table extends OptionTable>(
  table: Table,
  written: WrittenOptions,
): Result<Values<Table>> {
  const values: Record<string, unknown> = {};
  for (const [name, text] of written) {
    const { read, expected = '' } = table[name] as Option;
    values[name] = read(text);
    if (values[name] === undefined) return failure(`--${name}: ${expectedMessage(expected, text)}`);
  }
  return success(values as Values<Table>);
}

/** All texts of a repeatable option. */
export function allOf(written: WrittenOptions, name: string): string[] {
  return written.flatMap(([each, text]) => (each === name ? text : []));
}

/** The pairs of a repeatable option whose texts are `NAME=VALUE`. */
export function pairsOf(written: WrittenOptions, name: string): ReadonlyMap<string, string> {
  return new Map(
    allOf(written, name).map((text) => {
      const at = text.indexOf('=');
      return [text.slice(0, at), text.slice(at + 1)] as const;
    }),
  );
}

function unknownOption(rawName: string, known: readonly string[]): string {
  const name = rawName.replace(/^-+/, '');
  const renamed = name.replace(/^witness-/, 'observer-');
  if (renamed !== name && known.includes(renamed)) return `${rawName} is now called --${renamed}`;
  const meant = nearest(name, known);
  const hint = meant === undefined ? '' : `, did you mean --${meant}?`;
  return `unknown option ${quote(rawName)}${hint}`;
}
