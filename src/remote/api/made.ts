import { readFile } from 'node:fs/promises';
import { fileBesideCode } from '../../common/package.js';

/** The answers that the build produces: file names and paths below `/api/v1`. */
export const MADE_AT_BUILD = {
  'openapi.json': '/openapi.json',
  'fault-rule.json': '/schemas/fault-rule',
  'client.json': '/schemas/client',
  'fuzz.json': '/schemas/fuzz',
  'server.json': '/schemas/server',
  'line.json': '/schemas/line',
  'signals.json': '/signals',
  'configuration.json': '/schemas/configuration',
  'scenario.json': '/schemas/scenario',
  'catalogue.json': '/schemas/catalogue',
} as const;

/** The directory in which the build puts these files. */
export const MADE_DIRECTORY = fileBesideCode('remote/api/openapi/made/');

/**
 * The text of an answer that never changes. It is read from the file that the build has produced. If the
 * program runs from its sources, it is produced at the first request. Converting all zod schemas takes a
 * second on a slow machine.
 */
export function madeOnce(
  file: keyof typeof MADE_AT_BUILD,
  make: () => object | Promise<object>,
): () => Promise<string> {
  let text: Promise<string> | undefined;
  return () => {
    text ??= readFile(new URL(file, MADE_DIRECTORY), 'utf8').catch(async () => JSON.stringify(await make()));
    return text;
  };
}
