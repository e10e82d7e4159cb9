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

/** Every command and query of a running simulator by its name. `line-end.ts` has what carries them out. */
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

/** The names of lists. Their answers come in parts, by `Rpc.list`; all others come by `Rpc.call`. */
export type ListName = {
  [Name in CommandName]: (typeof COMMANDS)[Name] extends { readonly kind: 'list' } ? Name : never;
}[CommandName];

export type CallName = Exclude<CommandName, ListName>;

/** The declaration of a command; undefined when nothing has this name. */
export function declaredAs(name: string): Declared | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name as CommandName] : undefined;
}
