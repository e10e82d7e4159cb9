import type { Extension } from '../cli/verbs/extension.js';
import { CLONE_EXTENSION } from './clone/extension.js';
import { EXTCAP_EXTENSION } from './extcap/extension.js';
import { FLEET_EXTENSION } from './fleet/extension.js';
import { IMPORT_EXTENSION } from './import/extension.js';
import { LEARN_EXTENSION } from './learn/extension.js';
import { RESTAPI_EXTENSION } from './restapi/extension.js';
import { SPARKPLUG_EXTENSION } from './sparkplug/extension.js';
import { TRAFFIC_FILES_EXTENSION } from './traffic-files/extension.js';

/** The extensions, in the order in which lists have what they add. */
export const EXTENSIONS: readonly Extension[] = [
  ...[IMPORT_EXTENSION, CLONE_EXTENSION, LEARN_EXTENSION, FLEET_EXTENSION, EXTCAP_EXTENSION],
  ...[TRAFFIC_FILES_EXTENSION, RESTAPI_EXTENSION, SPARKPLUG_EXTENSION],
];
