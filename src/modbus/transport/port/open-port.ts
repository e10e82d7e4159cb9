import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HERE, whyNotVirtual } from '../../../common/platform.js';
import type { SerialSettings } from '../settings.js';
import { useKernelTimer } from './kernel-timer.js';
import type { Pacing } from './pacing.js';
import type { OpenResult, PortListener } from './port.js';
import { portBehind } from './port-path.js';
import { openRealPort } from './real-port.js';
import { isClientSide, openVirtualPort } from './virtual-port.js';

const ROOT = 0;

/**
 * Returns the directory for this user's links and sockets. A systemd service has a /tmp of its own, which no
 * client sees, so its links are in its runtime directory. If another user owns the usual directory, this user
 * gets a separate one, `/tmp/modbus-sim-1001`.
 */
export function ownDirectory(): string {
  const { RUNTIME_DIRECTORY } = process.env;
  if (RUNTIME_DIRECTORY !== undefined) return RUNTIME_DIRECTORY;
  const usual = join(tmpdir(), 'modbus-sim');
  return otherOwner(usual) === undefined ? usual : `${usual}-${process.geteuid?.() ?? ''}`;
}

/**
 * Returns the owner of a directory, who could redirect clients; undefined for this user, for root, and if
 * there is no directory.
 */
function otherOwner(path: string): number | undefined {
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
  return owner === process.geteuid?.() || owner === ROOT ? undefined : owner;
}

/**
 * Returns the stable name through which clients find a virtual line: `/tmp/modbus-sim/bench`, or
 * `/run/modbus-sim/bench`.
 */
export function defaultLink(line: string): string {
  // A line's name is not a path: it must not lead out of the directory, and two names must not share a link.
  return join(ownDirectory(), line.replaceAll('%', '%25').replaceAll('/', '%2F'));
}

/**
 * Creates the directory of the default links. A symbolic link in its place is not followed, because any user
 * can put one into /tmp.
 * @returns the error message
 */
function makeDefaultDirectory(): string | undefined {
  const path = ownDirectory();
  try {
    if (!lstatSync(path, { throwIfNoEntry: false })) mkdirSync(path, { mode: 0o755 });
    const found = lstatSync(path);
    if (!found.isDirectory()) return `${path}: is not a directory, so virtual lines have no links there`;
    const owner = otherOwner(path);
    return owner === undefined
      ? undefined
      : `${path}: belongs to another user (${owner}), so virtual lines have no links there`;
  } catch (error) {
    return `${path}: can't be created: ${(error as Error).message}`;
  }
}

/** Opens the port of a serial line: a real one, or a pseudo-terminal. */
export async function openPort(settings: SerialSettings, listener: PortListener): Promise<OpenResult> {
  // Only serial lines wait precisely, so only they load the timer. It is loaded before anything waits.
  await useKernelTimer();
  return settings.path === 'virtual' ? openVirtual(settings, listener) : openReal(settings, listener);
}

/** Returns how a virtual line delivers bytes; undefined if bytes pass at once. */
export function pacingOf(settings: SerialSettings): Pacing | undefined {
  const { pacing, baudRate, dataBits, parity, stopBits } = settings;
  return pacing && { ...pacing, baudRate, dataBits, parity, stopBits };
}

/** Returns the stable name through which clients find a virtual line. */
export function linkOf({ link, name }: SerialSettings): string {
  return link ?? defaultLink(name);
}

/**
 * Opens a real port, but refuses the client side of one of our virtual lines: for another line, that would
 * put two servers on one bus; for the same line, the line would answer itself.
 */
async function openReal(settings: SerialSettings, listener: PortListener): Promise<OpenResult> {
  const { path } = settings;
  return isClientSide(portBehind(path) ?? path)
    ? { ok: false, error: `${path}: is the client end of one of this program's virtual lines` }
    : openRealPort(settings, listener);
}

/** Reports where the link is, if it is not in the usual directory. */
function elsewhereNotes(): string[] {
  const usual = join(tmpdir(), 'modbus-sim');
  const owner = otherOwner(usual);
  const isUsual = process.env.RUNTIME_DIRECTORY !== undefined || owner === undefined;
  return isUsual
    ? []
    : [`${usual} belongs to another user (${owner}), so the links of virtual lines are in ${ownDirectory()}`];
}

async function openVirtual(settings: SerialSettings, listener: PortListener): Promise<OpenResult> {
  const impossible = whyNotVirtual(HERE);
  if (impossible !== undefined) return { ok: false, error: impossible, unfit: true };
  const pacing = pacingOf(settings);
  const options = pacing ? { pacing } : {};
  const { link } = settings;
  if (link !== undefined) return openVirtualPort({ ...options, link }, listener);
  const problem = makeDefaultDirectory();
  const linked: OpenResult =
    problem === undefined
      ? await openVirtualPort({ ...options, link: linkOf(settings) }, listener)
      : { ok: false, error: problem };
  if (linked.ok) return { ...linked, notes: [...linked.notes, ...elsewhereNotes()] };
  // This link is optional: if it can't be created, or another user owns the directory, the line works without
  // it.
  const unlinked = await openVirtualPort(options, listener);
  return unlinked.ok ? { ...unlinked, notes: [...unlinked.notes, linked.error] } : unlinked;
}
