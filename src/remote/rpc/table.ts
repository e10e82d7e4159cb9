import { CATALOGUE_FUNCTIONS } from '../../simulator/commands/catalogue.js';
import { CELL_FUNCTIONS } from '../../simulator/commands/cells.js';
import { CONFIGURATION_FUNCTIONS } from '../../simulator/commands/configuration.js';
import { DEVICE_FUNCTIONS } from '../../simulator/commands/devices.js';
import { RULE_FUNCTIONS } from '../../simulator/commands/faults.js';
import { INLET_FUNCTIONS } from '../../simulator/commands/inlets.js';
import { LINE_FUNCTIONS } from '../../simulator/commands/lines.js';
import { PROGRAM_FUNCTIONS } from '../../simulator/commands/program.js';
import { VALUE_FUNCTIONS } from '../../simulator/commands/values.js';
import { TESTING_FUNCTIONS } from '../../testing/commands.js';

/**
 * What carries out every command and every query of a running simulator; nothing else changes one. Each is a
 * function of a context and plain data. It checks its input against the running simulator, does all or
 * nothing, and returns plain data or a refusal with a stable code. Other threads call it by an `Rpc`.
 */
export const FUNCTIONS = {
  ...PROGRAM_FUNCTIONS,
  ...CONFIGURATION_FUNCTIONS,
  ...LINE_FUNCTIONS,
  ...DEVICE_FUNCTIONS,
  ...VALUE_FUNCTIONS,
  ...INLET_FUNCTIONS,
  ...CELL_FUNCTIONS,
  ...RULE_FUNCTIONS,
  ...CATALOGUE_FUNCTIONS,
  ...TESTING_FUNCTIONS,
};
