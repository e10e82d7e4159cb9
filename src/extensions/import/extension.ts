import { extensionCommand } from '../../cli/command-line/commands/of-extension.js';
import type { Extension } from '../../cli/verbs/extension.js';
import { IMPORT } from './command.js';

export const IMPORT_EXTENSION: Extension = {
  name: 'import',
  command: extensionCommand('describe', IMPORT, async (order) =>
    (await import('./verb.js')).importFile(order),
  ),
};
