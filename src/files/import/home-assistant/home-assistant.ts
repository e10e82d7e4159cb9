import type { Path } from '../../../common/schema/problem.js';
import { Collector, type Imported } from '../collected.js';
import { readYaml, type Section, sectionOf } from '../parts.js';
import { HubReader } from './entities.js';

/**
 * Reads a Home Assistant configuration, or only its part `modbus:`.
 * @returns what is wrong with the text, as a sentence
 */
export function importHomeAssistant(text: string): Imported | string {
  const file = readYaml(text);
  if (typeof file === 'string') return file;
  const { value, tags, locationOf } = file;
  const hubs = hubsOf(value);
  const collector = new Collector();
  for (const { path, message } of tags) {
    // Unknown tags in other parts of the configuration do not matter.
    const isOurs = hubs.length === 0 ? path[0] === 'modbus' : hubs.some((hub) => isInside(path, hub.path));
    if (isOurs) collector.note(locationOf(path), message);
  }
  for (const { hub, path } of hubs) new HubReader(hub, path, collector, locationOf).read();
  return collector.end('Home Assistant modbus', []);
}

interface FoundHub {
  readonly hub: Section;
  readonly path: Path;
}

/** Finds the hubs in a whole configuration, in a package, or in the list that `modbus: !include` names. */
function hubsOf(root: unknown): FoundHub[] {
  const top = sectionOf(root);
  const inside = (value: unknown, path: Path): FoundHub[] =>
    Array.isArray(value)
      ? value.flatMap((item, i) => inside(item, [...path, i]))
      : sectionOf(value)
        ? [{ hub: sectionOf(value) ?? {}, path }]
        : [];
  if (top === undefined) return inside(root, []);
  if ('modbus' in top) return inside(top.modbus, ['modbus']);
  const packages = Object.entries(top).flatMap(([name, value]) => {
    const modbus = sectionOf(value)?.modbus;
    return modbus === undefined ? [] : inside(modbus, [name, 'modbus']);
  });
  return packages.length > 0 ? packages : inside(top, []);
}

function isInside(path: Path, outer: Path): boolean {
  return outer.every((part, i) => path[i] === part);
}
