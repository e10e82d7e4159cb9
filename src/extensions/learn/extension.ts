import { extensionCommand } from '../../cli/command-line/commands/of-extension.js';
import type { Extension } from '../../cli/verbs/extension.js';
import { LEARN } from './command.js';

export const LEARN_EXTENSION: Extension = {
  name: 'learn',
  command: extensionCommand('describe', LEARN, async (order) => (await import('./verb.js')).learn(order)),
  atDesk: async (desk) => (await import('./desk.js')).learnAtDesk(desk),
  work: async () => (await import('./learn.js')).learning(),
};
