import type { At } from '../../schema/at.js';
import { unknownName } from '../../schema/nearest.js';
import type { Simulator } from '../../simulator/simulator.js';

/** `{lines.bus.path}` in a command line. The name of a line may have dots. */
const PLACE = /\{lines\.([^{}]+)\.(\w+)\}/g;

const SERIAL = ['path'];
const SOCKET = ['host', 'port'];

/** Reports places that a command line names and the bench does not have. */
export function reportUnknownPlaces(command: string, bench: Simulator, at: At): void {
  for (const [, name = '', key = ''] of command.matchAll(PLACE)) {
    const line = bench.lines.get(name);
    const known = line?.definition.kind === 'serial' ? SERIAL : SOCKET;
    if (!line) at.wrong(unknownName('line', name, [...bench.lines.keys()]));
    else if (!known.includes(key)) at.wrong(unknownName(`part of {lines.${name}}`, key, known));
  }
}

/** Where the lines of a bench are, by name: the path of a port, or host and port. */
export type LinePlaces = ReadonlyMap<string, string>;

/** Puts the places of the lines into a command line; lines that are not open leave their text as it is. */
export function withPlaces(command: string, places: LinePlaces): string {
  return command.replace(PLACE, (text, name: string, key: string) => {
    const place = places.get(name);
    if (place === undefined) return text;
    if (key === 'path') return place;
    const colon = place.lastIndexOf(':');
    return key === 'port' ? place.slice(colon + 1) : place.slice(0, colon).replace(/^\[|\]$/g, '');
  });
}

/** The places of the lines that are open. */
export function openPlaces(bench: Simulator): LinePlaces {
  return new Map(
    Array.from(bench.lines.values()).flatMap(({ name, state }) =>
      state.kind === 'open' ? [[name, state.place] as const] : [],
    ),
  );
}
