import { parseText } from '../../config/text/parse-text.js';
import { type Path, type Problem, pathText } from '../../schema/problem.js';
import { Collector, type Imported } from '../collected.js';
import { type Section, sectionOf } from '../parts.js';
import { HubReader } from './entities.js';

const MOST_VALUES = 300_000;

/** Reads a Home Assistant configuration, or the part `modbus:` of one. @returns what is wrong with the text, as a sentence */
export function importHomeAssistant(text: string): Imported | string {
  const parsed = parseText(text, MOST_VALUES, true);
  if (!parsed.ok) return problemText(parsed.problems[0]);
  const { value, locate } = parsed.source;
  const hubs = hubsOf(value);
  const collector = new Collector();
  const locationOf = (path: Path) => {
    const line = locate([{ path, message: '' }])[0]?.line;
    return line === undefined ? pathText(path) : `line ${line}`;
  };
  for (const { path, message } of parsed.tags ?? []) {
    // Other parts of the configuration are none of our business.
    const isOurs = hubs.length === 0 ? path[0] === 'modbus' : hubs.some((hub) => isInside(path, hub.path));
    if (isOurs) collector.note(locationOf(path), message);
  }
  for (const { hub, path } of hubs) new HubReader(hub, path, collector, locationOf).read();
  return collector.end('Home Assistant modbus', []);
}

function problemText(problem: Problem | undefined): string {
  const { line, message = '' } = problem ?? {};
  return `is no YAML: ${line === undefined ? '' : `line ${line}: `}${message}`;
}

interface Found {
  readonly hub: Section;
  readonly path: Path;
}

/** The hubs of a whole configuration, of a package of one, or of the list that `modbus: !include` names. */
function hubsOf(root: unknown): Found[] {
  const top = sectionOf(root);
  const inside = (value: unknown, path: Path): Found[] =>
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
