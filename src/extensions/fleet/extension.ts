import { extensionCommand } from '../../cli/command-line/commands/of-extension.js';
import type { Extension } from '../../cli/verbs/extension.js';
import { FLEET } from './command.js';

export const FLEET_EXTENSION: Extension = {
  name: 'fleet',
  command: extensionCommand('operate', FLEET, async (order) => (await import('./verb.js')).fleet(order)),
  atDesk: async (desk) => (await import('./desk.js')).fleetAtDesk(desk),
};
