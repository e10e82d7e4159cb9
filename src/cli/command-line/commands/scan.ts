import { parseArgs } from 'node:util';
import { failure, type Result, success } from '../../../common/result.js';
import { nearest } from '../../../common/schema/nearest.js';
import { expectedMessage, quote } from '../../../common/schema/problem.js';

/** An option, as node:util.parseArgs takes it, and what its text means. */
export interface Option<Value = unknown, Type = 'string' | 'boolean'> {
  readonly type: Type;
  readonly short?: string;
  /** The value that a text stands for; undefined for a text that is not valid. */
  readonly read: (text: string) => Value | undefined;
  /** What a message about an invalid text says after "expected". */
  readonly expected?: string;
  /** The word that stands for the value in the help, such as `FILE`; absent for an option without a value. */
  readonly value?: string;
  /** The words that are valid, where these are few. */
  readonly choices?: readonly string[];
  /** The sentence of the help; absent for an option that the help does not show. */
  readonly help?: string;
}

export type OptionTable = Readonly<Record<string, Option>>;

export type Values<Table extends OptionTable> = {
  readonly [Name in keyof Table]?: Table[Name] extends Option<infer Value> ? Value : never;
};

/**
 * Options and their texts, in the order in which they were written. The text of an option without a value is
 * empty.
 */
export type WrittenOptions = readonly (readonly [name: string, text: string])[];

/** What the parser of a command gets. */
export interface Given<Table extends OptionTable> {
  /** Values by name. When an option is repeated, the last value counts. */
  readonly values: Values<Table>;
  readonly options: WrittenOptions;
  /** The words of the command line that are no options, without the name of the command. */
  readonly words: readonly string[];
  /** The token of REST from the environment. */
  readonly token: string | undefined;
  /** The runtime directory that the service manager has made for this service. */
  readonly runtimeDirectory: string | undefined;
}

/** The text of the help for a command with a name. */
export interface Described {
  readonly name: string;
  /** The words that follow the name, such as `FILE...`; empty when there are none. */
  readonly words: string;
  /** What the first of these words is chosen from; absent when it may be any. */
  readonly choices?: readonly string[];
  /** What the command does: one line in the list of all commands. */
  readonly summary: string;
  /** Sentences with everything else that a user has to know. */
  readonly details: string;
  /** What somebody types after the name of the program to use the command. */
  readonly examples: readonly string[];
  readonly options: OptionTable;
}

export interface NamedCommand<Table extends OptionTable, Command> extends Described {
  /** The options that the command takes. Others are refused before `parse` is called. */
  readonly options: Table;
  /** @returns the command, or what is wrong, as a sentence */
  parse(given: Given<Table>): Result<Command>;
}

/** Gives a command its type, so that `parse` knows the types of its options. */
export function command<Table extends OptionTable, Command>(
  named: NamedCommand<Table, Command>,
): NamedCommand<Table, Command> {
  return named;
}

/**
 * The end of an error message about the command line: where to find help.
 * @param name command whose options are explained; without a name, all commands are listed
 */
export function seeHelp(name?: string): string {
  return name === undefined ? '(see modbus-sim --help)' : `(see modbus-sim help ${name})`;
}

/**
 * Splits a command line into options and other words.
 * @param command name of the command, for messages
 * @returns the parts, or what is wrong, as a sentence
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

/** Reads the values of the options of a table. @returns them, or what is wrong, as a sentence */
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

/** All texts of an option that may be repeated. */
export function allOf(written: WrittenOptions, name: string): string[] {
  return written.flatMap(([each, text]) => (each === name ? text : []));
}

/** The pairs of an option that may be repeated, whose texts are `NAME=VALUE`. */
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
