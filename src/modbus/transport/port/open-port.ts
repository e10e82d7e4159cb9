import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SerialSettings } from '../settings.js';
import { realPathOf } from './adapter.js';
import { useKernelTimer } from './kernel-timer.js';
import type { Pacing } from './pacing.js';
import type { OpenResult, PortListener } from './port.js';
import { openRealPort } from './real-port.js';
import { isClientSide, openVirtualPort } from './virtual-port.js';

const ROOT = 0;

/**
 * A service of systemd has a /tmp of its own, which no client sees; its links are in its runtime directory.
 */
function directory(): string {
  return process.env.RUNTIME_DIRECTORY ?? join(tmpdir(), 'modbus-sim');
}

/**
 * Where clients find a virtual line by a name that stays: `/tmp/modbus-sim/bench`, or
 * `/run/modbus-sim/bench`.
 */
export function defaultLink(line: string): string {
  // A line's name is no path: it must not lead out of the directory, and two names must not share a link.
  return join(directory(), line.replaceAll('%', '%25').replaceAll('/', '%2F'));
}

/**
 * Makes the directory of the default links. A symbolic link in its place is not followed: anybody may put one
 * into /tmp.
 * @returns what is wrong, as a sentence.
 */
function makeDefaultDirectory(): string | undefined {
  const path = directory();
  try {
    if (!lstatSync(path, { throwIfNoEntry: false })) mkdirSync(path, { mode: 0o755 });
    const found = lstatSync(path);
    if (!found.isDirectory()) return `${path}: is not a directory, so virtual lines have no links there`;
    // Its owner could lead clients elsewhere.
    return found.uid === process.geteuid?.() || found.uid === ROOT
      ? undefined
      : `${path}: belongs to another user (${found.uid}), so virtual lines have no links there`;
  } catch (error) {
    return `${path}: can't be made: ${(error as Error).message}`;
  }
}

/** Opens the port of a serial line: a real one, or a pseudo-terminal. */
export async function openPort(settings: SerialSettings, listener: PortListener): Promise<OpenResult> {
  // Only serial lines wait precisely. What takes time to load is loaded before anything waits.
  await useKernelTimer();
  return settings.path === 'virtual' ? openVirtual(settings, listener) : openReal(settings, listener);
}

/** How a virtual line is to hand over bytes; undefined where they pass at once. */
export function pacingOf(settings: SerialSettings): Pacing | undefined {
  const { pacing, baudRate, dataBits, parity, stopBits } = settings;
  return pacing && { ...pacing, baudRate, dataBits, parity, stopBits };
}

/** Where clients find a virtual line by a name that stays. */
export function linkOf({ link, name }: SerialSettings): string {
  return link ?? defaultLink(name);
}

/**
 * A line of ours on the client's side of another would be two servers on one bus, and on its own side end
 * itself.
 */
async function openReal(settings: SerialSettings, listener: PortListener): Promise<OpenResult> {
  const { path } = settings;
  return isClientSide(realPathOf(path) ?? path)
    ? { ok: false, error: `${path}: is where clients open a virtual line of this program` }
    : openRealPort(settings, listener);
}

async function openVirtual(settings: SerialSettings, listener: PortListener): Promise<OpenResult> {
  const pacing = pacingOf(settings);
  const options = pacing ? { pacing } : {};
  const { link } = settings;
  if (link !== undefined) return openVirtualPort({ ...options, link }, listener);
  const problem = makeDefaultDirectory();
  const linked: OpenResult =
    problem === undefined
      ? await openVirtualPort({ ...options, link: linkOf(settings) }, listener)
      : { ok: false, error: problem };
  if (linked.ok) return linked;
  // Nobody asked for this link: when it can't be had, or another user has the directory, the line works
  // without it.
  const unlinked = await openVirtualPort(options, listener);
  return unlinked.ok ? { ...unlinked, notes: [...unlinked.notes, linked.error] } : unlinked;
}
