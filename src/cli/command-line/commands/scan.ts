import { parseArgs } from 'node:util';
import { nearest } from '../../../common/schema/nearest.js';
import { expectedMessage, quote } from '../../../common/schema/problem.js';

/** An option, as node:util.parseArgs takes it, and what its text means. */
export interface Option<Value = unknown, Type = 'string' | 'boolean'> {
  readonly type: Type;
  readonly short?: string;
  /** What a text means; undefined where it means nothing. */
  readonly read: (text: string) => Value | undefined;
  /** What a message about such a text says after "expected". */
  readonly expected?: string;
  /** What stands for the value in the help, such as `FILE`; absent for an option without a value. */
  readonly value?: string;
  /** What the option does, for the help; absent for what users need not know. */
  readonly help?: string;
}

/** Options by their names. */
export type OptionTable = Readonly<Record<string, Option>>;

/** What the options of a table mean, by their names. */
export type Values<Table extends OptionTable> = {
  readonly [Name in keyof Table]?: Table[Name] extends Option<infer Value> ? Value : never;
};

/** Options and their texts, in the order of the command line. The text of an option without a value is empty. */
export type WrittenOptions = readonly (readonly [name: string, text: string])[];

/** What a command is given. */
export interface Given<Table extends OptionTable> {
  /** Of equal options the last one counts. */
  readonly values: Values<Table>;
  readonly options: WrittenOptions;
  /** What stands beside the options, without the name of the command. */
  readonly words: readonly string[];
  /** The token of REST in the environment. */
  readonly token: string | undefined;
  /** The runtime directory that the service manager has made for this service. */
  readonly runtimeDirectory: string | undefined;
}

/** What the help says of a command with a name of its own. */
export interface Described {
  readonly name: string;
  /** The words behind the name, such as `FILE...`; empty when there are none. */
  readonly words: string;
  /** What the command does, in one line of the list of all commands. */
  readonly summary: string;
  /** The rest that a user has to know, in sentences. */
  readonly details: string;
  readonly options: OptionTable;
}

/** A command with a name of its own. */
export interface NamedCommand<Table extends OptionTable, Command> extends Described {
  /** Other options are refused before. */
  readonly options: Table;
  /** @returns what is wrong, as a sentence */
  parse(given: Given<Table>): Command | string;
}

/** Makes a command of what is written of it: so that `parse` knows what the options mean. */
export function command<Table extends OptionTable, Command>(
  named: NamedCommand<Table, Command>,
): NamedCommand<Table, Command> {
  return named;
}

/** Ends a message about the command line. @param name the command whose options are explained; all commands are listed without it */
export function seeHelp(name?: string): string {
  return name === undefined ? '(see modbus-sim --help)' : `(see modbus-sim help ${name})`;
}

/**
 * Splits a command line into options and the words beside them.
 * @param command the name of the command, for messages
 * @returns what is wrong, as a sentence
 */
export function scan(
  args: readonly string[],
  table: OptionTable,
  command: string | undefined,
): { readonly options: WrittenOptions; readonly words: readonly string[] } | string {
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
    if (option === undefined) return `${unknownOption(rawName, Object.keys(table))} ${seeHelp(command)}`;
    if (option.type === 'boolean') {
      if (value !== undefined) return `${rawName} takes no value`;
      options.push([name, '']);
    } else {
      if (!value || (!inlineValue && value.startsWith('-'))) return `${rawName} needs a value`;
      options.push([name, value]);
    }
  }
  return { options, words };
}

/** What the options of a table mean. @returns what is wrong, as a sentence */
export function valuesOf<Table extends OptionTable>(
  table: Table,
  written: WrittenOptions,
): Values<Table> | string {
  const values: Record<string, unknown> = {};
  for (const [name, text] of written) {
    const { read, expected = '' } = table[name] as Option;
    values[name] = read(text);
    if (values[name] === undefined) return `--${name}: ${expectedMessage(expected, text)}`;
  }
  return values as Values<Table>;
}

/** The texts of an option that may be given again and again. */
export function allOf(written: WrittenOptions, name: string): string[] {
  return written.flatMap(([each, text]) => (each === name ? text : []));
}

function unknownOption(rawName: string, known: readonly string[]): string {
  const meant = nearest(rawName.replace(/^-+/, ''), known);
  const hint = meant === undefined ? '' : `, did you mean --${meant}?`;
  return `unknown option ${quote(rawName)}${hint}`;
}
