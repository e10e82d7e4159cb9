import { abilities, type FaultLine } from '../../device/faults/kind.js';
import type { LineDefinition } from './configuration.js';

/**
 * A line of a configuration as fault rules see it: with the abilities that decide which faults it can carry
 * out.
 */
export function faultLine(line: LineDefinition): FaultLine {
  const medium = line.kind === 'serial' && line.path === 'virtual' ? 'virtual' : line.kind;
  return { name: line.name, abilities: abilities(medium, line.framing) };
}
