import { ordered } from '../../cli/command-line/commands/of-extension.js';
import type { Extension } from '../../cli/verbs/extension.js';
import { EXTCAP, parseExtcap } from './command.js';

export const EXTCAP_EXTENSION: Extension = {
  name: 'extcap',
  command: {
    ...EXTCAP,
    part: 'operate',
    understand: (args, env) =>
      ordered(parseExtcap(args, env), async (request) => (await import('./verb.js')).extcap(request)),
  },
};
