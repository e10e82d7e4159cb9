import type { Extension } from '../cli/verbs/extension.js';
import { CLONE_EXTENSION } from './clone/extension.js';
import { EXTCAP_EXTENSION } from './extcap/extension.js';
import { FLEET_EXTENSION } from './fleet/extension.js';
import { IMPORT_EXTENSION } from './import/extension.js';
import { LEARN_EXTENSION } from './learn/extension.js';

/** The extensions that have a command, in the order in which lists have them. */
export const EXTENSIONS: readonly Extension[] = [
  ...[IMPORT_EXTENSION, CLONE_EXTENSION, LEARN_EXTENSION, FLEET_EXTENSION, EXTCAP_EXTENSION],
];
