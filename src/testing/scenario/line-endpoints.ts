import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import type { Simulator } from '../../simulator/simulator.js';

/** Matches `{lines.bus.path}` in a command line. The name of a line may have dots. */
const ENDPOINT = /\{lines\.([^{}]+)\.(\w+)\}/g;

const SERIAL = ['path'];
const SOCKET = ['host', 'port'];

/** Reports endpoints in a command line that the simulator does not have. */
export function reportUnknownEndpoints(command: string, simulator: Simulator, at: At): void {
  for (const [, name = '', key = ''] of command.matchAll(ENDPOINT)) {
    const line = simulator.lines.get(name);
    const known = line?.definition.kind === 'serial' ? SERIAL : SOCKET;
    if (!line) at.wrong(unknownName('line', name, [...simulator.lines.keys()]));
    else if (!known.includes(key)) at.wrong(unknownName(`part of {lines.${name}}`, key, known));
  }
}

/** The endpoints of lines by name: the path of a port, or host and port. */
export type LineEndpoints = ReadonlyMap<string, string>;

/**
 * Puts the endpoints of the lines into a command line. The text for a line that is not open stays as it is.
 */
export function withEndpoints(command: string, endpoints: LineEndpoints): string {
  return command.replace(ENDPOINT, (text, name: string, key: string) => {
    const endpoint = endpoints.get(name);
    if (endpoint === undefined) return text;
    if (key === 'path') return endpoint;
    const colon = endpoint.lastIndexOf(':');
    return key === 'port' ? endpoint.slice(colon + 1) : endpoint.slice(0, colon).replace(/^\[|\]$/g, '');
  });
}

/** The endpoints of the lines that are open. */
export function openEndpoints(simulator: Simulator): LineEndpoints {
  return new Map(
    Array.from(simulator.lines.values()).flatMap(({ name, state }) =>
      state.kind === 'open' ? [[name, state.endpoint] as const] : [],
    ),
  );
}
