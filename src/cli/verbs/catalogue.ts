import { findMisbehaviour, type Misbehaviour, readCatalogue, rulesOf } from '../../document/catalogue.js';
import { catalogueIds } from '../../document/catalogue-files.js';
import { flow } from '../../document/print.js';
import type { CatalogueCommand } from '../command-line/commands/plain.js';
import { complain, say, sayJson, WRONG_USAGE } from './say.js';

/** Prints the catalogue of misbehaviour found in real devices: one line per entry, or one entry in full. */
export function catalogue({ id, asJson }: CatalogueCommand): number {
  if (id !== undefined) {
    const entry = findMisbehaviour(id);
    if (!entry.ok) return complain(entry.error, WRONG_USAGE);
    return asJson ? sayJson(entry.value) : say(explained(entry.value));
  }
  if (asJson) return sayJson(readCatalogue());
  const width = Math.max(...catalogueIds().map(({ length }) => length));
  return say(
    readCatalogue()
      .map(({ id, title }) => `${id.padEnd(width)}  ${title}`)
      .join('\n'),
  );
}

function explained(entry: Misbehaviour): string {
  const { id, title, sees, devices, sources, robust, manners, line } = entry;
  const [user, target] = line
    ? (['line', { line: 'lan' }] as const)
    : (['device', { device: 'meter' }] as const);
  const rules = rulesOf(entry, target);
  return [
    title,
    '',
    `A client sees: ${sees}`,
    `A robust client: ${robust}`,
    ...(devices.length > 0 ? [`Devices: ${devices.join('; ')}`] : []),
    '',
    'Reported:',
    ...sources.map(({ url, fact }) => `  ${fact}\n    ${url}`),
    '',
    `To use it: modbus-sim --misbehave ${id}, or like: ${id} on a ${user} in a file. It is short for`,
    ...(manners ? [`  manners: ${flow(manners)}`] : []),
    ...rules.map((rule) => `  faults: - ${flow(rule)}`),
    ...(line ? [`  line: ${flow(line)}`] : []),
  ].join('\n');
}
