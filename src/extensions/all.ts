import { type Extension, extension, ordered } from '../cli/command-line/extension.js';
import { CLONE } from './clone/command.js';
import { EXTCAP, parseExtcap } from './extcap/command.js';
import { FLEET } from './fleet/command.js';
import { IMPORT } from './import/command.js';
import { LEARN } from './learn/command.js';
import { VIEW } from './view/command.js';

/** The extensions on the command line, in the order in which help and completion list them. */
export const EXTENSIONS: readonly Extension[] = [
  {
    ...extension('describe', IMPORT, async (order) => (await import('./import/verb.js')).importFile(order)),
    work: async () => (await import('./import/importing.js')).importing(),
  },
  extension('describe', CLONE, async (order) => (await import('./clone/verb.js')).clone(order)),
  {
    ...extension('describe', LEARN, async (order) => (await import('./learn/verb.js')).learn(order)),
    work: async () => (await import('./learn/learn.js')).learning(),
  },
  extension('operate', FLEET, async (order) => (await import('./fleet/verb.js')).fleet(order)),
  {
    ...extension('operate', VIEW, async (order) => (await import('./view/verb.js')).view(order)),
    work: async () => (await import('./view/page.js')).viewing(),
  },
  {
    ...EXTCAP,
    part: 'operate',
    understand: (args, env) =>
      ordered(parseExtcap(args, env), async (request) => (await import('./extcap/verb.js')).extcap(request)),
  },
];
