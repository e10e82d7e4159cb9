import { type Result, success } from '../../common/result.js';
import type { Described, Given, NamedCommand, OptionTable } from './commands/scan.js';

/** What somebody has asked an extension for. */
export interface ExtensionOrder {
  readonly kind: 'extension';
  /** What the command line says, as the extension understands it. */
  readonly order: unknown;
  /** Loads what carries the order out; resolves with the exit code. */
  carryOut(): Promise<number>;
}

/**
 * What an extension has on the command line. The code behind it is loaded when somebody asks for it. What an
 * extension does at the desk, another thread, is an `ExtensionPart` (`remote/api/extension.ts`).
 */
export type Extension = Described & {
  /** The part of the list of commands that has its command. */
  readonly part: 'describe' | 'operate';
  /** Loads its long work, which a thread of its own does one piece after another (`verbs/work.ts`). */
  readonly work?: () => Promise<Generator<unknown, unknown, never>>;
} & (NamedCommand<OptionTable, ExtensionOrder> | Foreign);

/** A command that another program writes, with options that are in no table. */
interface Foreign {
  /** @param args the arguments after the name. @returns what was asked for, or what is wrong, as a sentence */
  understand(args: readonly string[], env: NodeJS.ProcessEnv): Result<ExtensionOrder>;
}

/** Makes an extension of its command and what carries the command out. */
export function extension<Table extends OptionTable, Command>(
  part: Extension['part'],
  command: NamedCommand<Table, Command>,
  carryOut: (order: Command) => Promise<number>,
): Extension {
  return { ...command, part, parse: (given) => ordered(command.parse(given as Given<Table>), carryOut) };
}

/** What carries an order out, once it is understood. */
export function ordered<Command>(
  parsed: Result<Command>,
  carryOut: (order: Command) => Promise<number>,
): Result<ExtensionOrder> {
  if (!parsed.ok) return parsed;
  const { value: order } = parsed;
  return success({ kind: 'extension', order, carryOut: () => carryOut(order) });
}
