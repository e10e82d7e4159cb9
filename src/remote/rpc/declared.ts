import type { Declared } from '../../simulator/commands/declared.js';
import { CATALOGUE_COMMANDS } from '../../simulator/commands/schemas/catalogue.js';
import { CELL_COMMANDS, DEVICE_COMMANDS, INLET_COMMANDS } from '../../simulator/commands/schemas/device.js';
import { RULE_COMMANDS } from '../../simulator/commands/schemas/fault.js';
import { LINE_COMMANDS } from '../../simulator/commands/schemas/line.js';
import {
  CONFIGURATION_COMMANDS,
  PORT_COMMANDS,
  PROGRAM_COMMANDS,
  TRAFFIC_COMMANDS,
} from '../../simulator/commands/schemas/program.js';
import { SIGNAL_COMMANDS, VALUE_COMMANDS } from '../../simulator/commands/schemas/value.js';
import { RUN_COMMANDS } from '../../testing/declared.js';

/** Every command and query of a running simulator, by name. The functions that carry them out are in `line-end.ts`. */
export const COMMANDS = {
  ...PROGRAM_COMMANDS,
  ...PORT_COMMANDS,
  ...CONFIGURATION_COMMANDS,
  ...TRAFFIC_COMMANDS,
  ...LINE_COMMANDS,
  ...DEVICE_COMMANDS,
  ...VALUE_COMMANDS,
  ...SIGNAL_COMMANDS,
  ...INLET_COMMANDS,
  ...CELL_COMMANDS,
  ...RULE_COMMANDS,
  ...CATALOGUE_COMMANDS,
  ...RUN_COMMANDS,
} as const;

type CommandName = keyof typeof COMMANDS;

/** The names of lists. `Rpc.list` returns their answers in parts; `Rpc.call` is for all others. */
export type ListName = {
  [Name in CommandName]: (typeof COMMANDS)[Name] extends { readonly kind: 'list' } ? Name : never;
}[CommandName];

export type CallName = Exclude<CommandName, ListName>;

/** The declaration of a command; undefined if there is none with this name. */
export function declaredAs(name: string): Declared | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name as CommandName] : undefined;
}
