import type { Given } from './scan.js';

/** List the serial ports. */
export interface PortsCommand {
  readonly kind: 'ports';
}

/** @returns what is wrong, as a sentence */
export function parsePorts({ words }: Given<never>): PortsCommand | string {
  return words.length === 0 ? { kind: 'ports' } : 'ports takes nothing more';
}
