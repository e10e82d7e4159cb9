import { abilities, type FaultLine } from '../../device/faults/ability.js';
import type { LineDefinition } from './configuration.js';

/** A defined line as fault rules see it: what can be done on it. */
export function faultLine(line: LineDefinition): FaultLine {
  const medium = line.kind === 'serial' && line.path === 'virtual' ? 'virtual' : line.kind;
  return { name: line.name, abilities: abilities(medium, line.framing) };
}
