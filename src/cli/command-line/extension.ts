import { type Result, success } from '../../common/result.js';
import type { Described, Given, NamedCommand, OptionTable } from './commands/scan.js';

/** What the user asks an extension to do. */
export interface ExtensionOrder {
  readonly kind: 'extension';
  /** The parsed command line, in a form that only the extension knows. */
  readonly order: unknown;
  /** Loads the code that does the work and runs it. Resolves with the exit code. */
  carryOut(): Promise<number>;
}

/**
 * What an extension adds to the command line. Its code is loaded only when it is used. What an extension does
 * on the desk thread is an `ExtensionPart` (`remote/api/extension.ts`).
 */
export type Extension = Described & {
  /** The section of the command list that its command is in. */
  readonly part: 'describe' | 'operate';
  /** Loads its long work, which a separate thread does in small pieces (`verbs/work.ts`). */
  readonly work?: () => Promise<Generator<unknown, unknown, never>>;
} & (NamedCommand<OptionTable, ExtensionOrder> | Foreign);

/** A command line that another program defines, with options that are in no table. */
interface Foreign {
  /** @param args the arguments after the name. @returns the order, or a sentence that says what is wrong */
  understand(args: readonly string[], env: NodeJS.ProcessEnv): Result<ExtensionOrder>;
}

/** Combines a command and the code that carries it out into an extension. */
export function extension<Table extends OptionTable, Command>(
  part: Extension['part'],
  command: NamedCommand<Table, Command>,
  carryOut: (order: Command) => Promise<number>,
): Extension {
  return { ...command, part, parse: (given) => ordered(command.parse(given as Given<Table>), carryOut) };
}

/** Makes an order that passes a parsed command to `carryOut`. Returns the parser's error if there is one. */
export function ordered<Command>(
  parsed: Result<Command>,
  carryOut: (order: Command) => Promise<number>,
): Result<ExtensionOrder> {
  if (!parsed.ok) return parsed;
  const { value: order } = parsed;
  return success({ kind: 'extension', order, carryOut: () => carryOut(order) });
}
