import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { sectionOf } from '../schema/parts.js';
import { type Refusal, refusal } from './refusal.js';
import type { Room } from './room.js';

/**
 * Why a remote client may not let something be made or read at `path`, which begins in `root` unless it is absolute: it
 * is not in `root`, perhaps by way of a symbolic link. So nobody who has the token gets the rights that the program has
 * elsewhere.
 * @param what the use of `root`, for the message
 */
export async function whyNotIn(
  root: string,
  path: string,
  what = 'where REST may write',
): Promise<string | undefined> {
  const wanted = resolve(root, path);
  if (isIn(root, wanted) && isIn(await realPath(root), await realPath(wanted))) return undefined;
  return `expected a place in ${root}, ${what}`;
}

/**
 * The same for the link of a virtual line, in the settings of a line that a client has sent.
 * @param present the link that the line has, which may stay wherever it is
 */
export async function wrongLink(
  { writesIn: root, isOwner }: Room,
  settings: Readonly<Record<string, unknown>>,
  present?: string,
): Promise<Refusal | undefined> {
  const link = sectionOf(settings.serial, 'link');
  if (isOwner || typeof link !== 'string' || link === present) return undefined;
  // A relative one begins where the program was started. What stands there already is not followed.
  const message = await whyNotIn(root, dirname(resolve(link)));
  return message === undefined ? undefined : refusal('file.outside', 'serial.link', message);
}

function isIn(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}

/** The path without symbolic links, of which an end may not exist yet. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realPath(above), path.slice(above.length));
  }
}
