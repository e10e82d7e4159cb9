import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { packageFile } from '../common/package.js';
import { readApart } from '../common/schema/parts.js';

const DIRECTORY = packageFile('catalogue/');
const ENDING = '.yaml';

/** Returns the identifiers of all catalogue entries, in alphabetical order. */
export function catalogueIds(): string[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .sort();
}

/** Returns the path of the file of an entry. */
export function catalogueFile(id: string): string {
  return fileURLToPath(new URL(id + ENDING, DIRECTORY));
}

/** The key `like` of a device or a line. */
export const likeSchema = readApart(() => z.enum(catalogueIds()));

export const ABOUT_LIKE = 'The catalogue entry to behave like; `modbus-sim catalogue` lists the entries.';
