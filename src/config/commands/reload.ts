import type { Given } from './scan.js';

/** Have a running service read its configuration again. */
export interface ReloadCommand {
  readonly kind: 'reload';
  /** The runtime directory of the service, where its socket is. */
  readonly directory: string;
}

/** Of modbus-sim.service. */
const USUAL_DIRECTORY = '/run/modbus-sim';

/** @returns what is wrong, as a sentence */
export function parseReload({ words, runtimeDirectory }: Given<never>): ReloadCommand | string {
  const [directory = runtimeDirectory ?? USUAL_DIRECTORY, ...more] = words;
  return more.length === 0 ? { kind: 'reload', directory } : 'reload takes one directory';
}
