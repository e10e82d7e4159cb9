import type { Device } from '../../../device/device.js';
import { commandWitness } from './command-witness.js';
import type { WitnessDefinition } from './read-witness.js';
import { registerWitness } from './register-witness.js';
import { urlWitness } from './url-witness.js';
import type { Witness } from './witness.js';

/**
 * The witness that was asked for.
 * @returns what is wrong with the name of a register, as a sentence
 */
export function newWitness(
  definition: WitnessDefinition,
  devices: ReadonlyMap<string, Device>,
): Witness | string {
  switch (definition.kind) {
    case 'register':
      return registerWitness(definition.register, devices);
    case 'url':
      return urlWitness(definition.url, definition.path);
    case 'command':
      return commandWitness(definition.command);
  }
}
