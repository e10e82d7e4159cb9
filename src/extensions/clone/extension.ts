import { extensionCommand } from '../../cli/command-line/commands/of-extension.js';
import type { Extension } from '../../cli/verbs/extension.js';
import { CLONE } from './command.js';

export const CLONE_EXTENSION: Extension = {
  name: 'clone',
  command: extensionCommand('describe', CLONE, async (order) => (await import('./verb.js')).clone(order)),
};
