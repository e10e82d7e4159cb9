import { type Result, success } from '../../../common/result.js';
import type { Described, Given, NamedCommand, OptionTable } from './scan.js';

/** What somebody has asked an extension for. */
export interface ExtensionOrder {
  readonly kind: 'extension';
  /** What the command line says, as the extension understands it. */
  readonly order: unknown;
  /** Loads what carries the order out; resolves with the exit code. */
  carryOut(): Promise<number>;
}

/** A command of an extension. */
export type ExtensionCommand = Described & {
  /** The part of the list of commands that has it. */
  readonly part: 'describe' | 'operate';
} & (NamedCommand<OptionTable, ExtensionOrder> | Foreign);

/** A command that another program writes, with options that are in no table. */
interface Foreign {
  /** @param args the arguments after the name. @returns what was asked for, or what is wrong, as a sentence */
  understand(args: readonly string[], env: NodeJS.ProcessEnv): Result<ExtensionOrder>;
}

/** Makes the command of an extension of one that is understood, and of what carries it out. */
export function extensionCommand<Table extends OptionTable, Command>(
  part: ExtensionCommand['part'],
  named: NamedCommand<Table, Command>,
  carryOut: (order: Command) => Promise<number>,
): ExtensionCommand {
  return {
    ...named,
    part,
    parse: (given) => ordered(named.parse(given as Given<Table>), carryOut),
  };
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
