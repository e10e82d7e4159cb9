import { readFile } from 'node:fs/promises';
import { fileBesideCode } from '../../common/package.js';

/** The answers that the build makes: the path below `/api/v1` by the name of the file. */
export const MADE_AT_BUILD = {
  'openapi.json': '/openapi.json',
  'fault-rule.json': '/schemas/fault-rule',
  'examination.json': '/schemas/examination',
  'line.json': '/schemas/line',
  'signals.json': '/signals',
} as const;

/** Where the build puts these files. */
export const MADE_DIRECTORY = fileBesideCode('remote/api/openapi/made/');

/**
 * The text of an answer that never differs: as the build has made it, or made when it is first asked for where the program
 * runs from its sources. Turning all schemas of zod into JSON Schema takes
 * a second on a slow machine.
 */
export function madeOnce(file: keyof typeof MADE_AT_BUILD, make: () => object): () => Promise<string> {
  let text: Promise<string> | undefined;
  return () => {
    text ??= readFile(new URL(file, MADE_DIRECTORY), 'utf8').catch(() => JSON.stringify(make()));
    return text;
  };
}
