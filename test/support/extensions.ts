import { EXTENSIONS } from '../../src/extensions/all.js';

/** The commands of the extensions. */
export const COMMANDS = EXTENSIONS.flatMap(({ command }) => command ?? []);
