import { realpath } from 'node:fs/promises';
import system, { dirname, join, type PlatformPath, resolve } from 'node:path';
import { isMapping, sectionOf } from '../../common/schema/parts.js';
import type { LineDefinition } from '../../document/configuration.js';
import { whyNoPort } from '../ports.js';
import type { CommandContext } from './context.js';
import { type Refusal, refusal } from './refusal.js';

/**
 * Why a remote client may not create or read a file at `path`, which is relative to `root` unless it is
 * absolute: the path leads out of `root`, perhaps through a symbolic link. Otherwise a token would give all
 * the file access that the program has.
 * @param what what `root` is for, for the message
 */
export async function whyNotIn(
  root: string,
  path: string,
  what = 'where REST may write',
): Promise<string | undefined> {
  const wanted = resolve(root, path);
  if (isIn(root, wanted) && isIn(await realPath(root), await realPath(wanted))) return undefined;
  return `expected a path in ${root}, ${what}`;
}

/** The keys of `tls` that name files. */
const TLS_FILES = ['cert', 'key', 'ca'] as const;

/**
 * Checks the files in the line settings from a client: the link of a virtual line, and the TLS certificates,
 * which may only be read from the directory of the configuration. Nothing outside it is touched.
 * @param present the current definition of the line: its files may stay wherever they are
 */
export async function wrongFiles(
  context: CommandContext,
  settings: Readonly<Record<string, unknown>>,
  present?: LineDefinition,
): Promise<Refusal | undefined> {
  if (context.isOwner) return undefined;
  const { directory } = context.simulator;
  const files = present && 'files' in present ? present.files : undefined;
  for (const key of TLS_FILES) {
    const path = sectionOf(settings.tls, key);
    if (typeof path !== 'string' || resolve(directory, path) === files?.[key]) continue;
    const message = await whyNotIn(directory, path, 'the directory of the certificates that REST may name');
    if (message !== undefined) return refusal('file.outside', `tls.${key}`, message);
  }
  return (
    (await wrongPort(settings, present && 'path' in present ? present.path : undefined)) ??
    wrongLink(context, settings, present && 'link' in present ? present.link : undefined)
  );
}

async function wrongPort(
  settings: Readonly<Record<string, unknown>>,
  present: string | undefined,
  at = '',
): Promise<Refusal | undefined> {
  const path = sectionOf(settings.serial, 'path');
  if (typeof path !== 'string' || path === 'virtual' || path === present) return undefined;
  const why = await whyNoPort(path);
  return why === undefined ? undefined : refusal('line.not_serial', `${at}serial.path`, why);
}

/**
 * Why a client may not name the real device of a new one: its port is not on this machine, or its host is not
 * listed in `api.mayReach`. Otherwise a token would give access to whatever this machine can reach.
 */
export async function wrongReal(
  { isOwner, simulator }: CommandContext,
  { real }: Readonly<Record<string, unknown>>,
): Promise<Refusal | undefined> {
  if (isOwner || !isMapping(real)) return undefined;
  const host = sectionOf(real.tcp, 'host');
  const { mayReach = [] } = simulator.running.api;
  if (typeof host === 'string' && !mayReach.includes(host))
    return refusal('device.host', 'real.tcp.host', `expected a host listed in api.mayReach, got ${host}`);
  return wrongPort(real, undefined, 'real.');
}

async function wrongLink(
  { writesIn: root }: CommandContext,
  settings: Readonly<Record<string, unknown>>,
  present: string | undefined,
): Promise<Refusal | undefined> {
  const link = sectionOf(settings.serial, 'link');
  if (typeof link !== 'string' || link === present) return undefined;
  // A relative path starts from the directory where the program was started. An existing link is not
  // followed.
  const message = await whyNotIn(root, dirname(resolve(link)));
  return message === undefined ? undefined : refusal('file.outside', 'serial.link', message);
}

/**
 * True for the directory itself and everything below it.
 * @param paths the path syntax of the operating system
 */
export function isIn(
  root: string,
  path: string,
  { relative, isAbsolute, sep }: Pick<PlatformPath, 'relative' | 'isAbsolute' | 'sep'> = system,
): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Resolves symbolic links. The end of the path need not exist yet. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realPath(above), path.slice(above.length));
  }
}
