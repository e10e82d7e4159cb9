import { join } from 'node:path';
import type { Configuration, LineDefinition } from '../config/configuration.js';

/**
 * The configuration with its lines on free places, so that benches never meet: sockets on this machine at any free
 * port, serial lines on pseudo-terminals.
 * @param directory for the links of virtual lines
 */
export function onFreePlaces(configuration: Configuration, directory: string): Configuration {
  return { ...configuration, lines: configuration.lines.map((line) => onFreePlace(line, directory)) };
}

function onFreePlace(line: LineDefinition, directory: string): LineDefinition {
  if (line.kind !== 'serial') return { ...line, host: '127.0.0.1', port: 0 };
  // A pseudo-terminal has no driver to switch and no parity errors to mark.
  const { rs485, parityMarks, ...rest } = line;
  return { ...rest, path: 'virtual', link: join(directory, encodeURIComponent(line.name)) };
}
