import { faultLine, type LineDefinition } from '../document/configuration.js';
import { FRAMINGS } from '../modbus/protocol/framings.js';
import { characterTime } from '../modbus/protocol/timing.js';
import type { BusLine } from './bus/bus.js';

/** A line of a configuration as its bus sees it. */
export function busLine(definition: LineDefinition): BusLine {
  const framing = FRAMINGS[definition.framing];
  return definition.kind === 'serial'
    ? { ...faultLine(definition), framing, characterTime: characterTime(definition) }
    : { ...faultLine(definition), framing, characterTime: 0, missingUnit: definition.missingUnit };
}
