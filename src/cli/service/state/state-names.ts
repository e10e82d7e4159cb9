import { createHash } from 'node:crypto';
import { promises } from 'node:fs';
import { basename, join } from 'node:path';

export const SIMULATOR_FILE = 'bench.json';
export const CLOCK_FILE = 'clock.json';
/** Marks a directory as the directory of a state, and counts failed starts (`start-mark.ts`). */
export const MARK_FILE = 'modbus-sim-state.json';
export const UNFINISHED = '.tmp';

/** The file name of a device. It contains a digest, because device names may contain any characters. */
export function deviceFile(device: string): string {
  const readable = device.replace(/[^A-Za-z0-9_-]/g, '').slice(0, 32);
  return `device-${readable}-${createHash('sha256').update(device).digest('hex').slice(0, 8)}.json`;
}

const DEVICE = String.raw`device-[\w-]{0,32}-[0-9a-f]{8}\.json`;
const DEVICE_FILE = new RegExp(`^${DEVICE}$`);
const STATE_FILE = new RegExp(`^(bench\\.json|clock\\.json|${DEVICE})$`);
const WRITTEN = new RegExp(`^(bench\\.json|clock\\.json|modbus-sim-state\\.json|${DEVICE})(\\.tmp)?$`);
/** Names that no other program uses: a file with one of them belongs to a state, whatever its content. */
const SPECIFIC = new RegExp(`^(modbus-sim-state\\.json|${DEVICE})(\\.tmp)?$`);
const SET_ASIDE = /^.*\.json\.(unfitting|(damaged|ended)-\d{8}T\d{9}Z)$/;
/** A folder with a state that was set aside as a whole. */
const ENDED = /^ended-\d{8}T\d{9}Z$/;
/**
 * Other files that may be in a state directory: those from earlier versions, those of `traffic.file`, and
 * hidden ones such as .gitkeep.
 */
const TOLERATED = /^(lock|start|traffic-\d{6,}\.(ndjson|pcapng)|\..*)$/;

/** The start of a state file, with a checksum or, in version 0.1, without one. */
const OWN_HEAD = /^\{\s*"(sum|format)":/;
/** What remains of a file after a power failure: nothing, or zeros. */
const BLANK = /^(\0|$)/;
const HEAD_BYTES = 64;

export function isDeviceFile(name: string): boolean {
  return DEVICE_FILE.test(name);
}

export function isStateFile(name: string): boolean {
  return STATE_FILE.test(name);
}

export function isEndedState(name: string): boolean {
  return ENDED.test(name);
}

/** Maximum number of foreign files named in a message. */
const MOST_NAMED = 3;

/**
 * Finds files in the directory that this program did not write and that are in its way.
 * @param names what is in the directory
 * @param isService whether the service manager created the directory for this program
 * @returns a sentence that names them; undefined if the program may use the directory
 */
export async function foreignFiles(
  directory: string,
  names: readonly string[],
  isService: boolean,
): Promise<string | undefined> {
  const written = names.filter((name) => WRITTEN.test(name));
  const origins = await Promise.all(written.map((name) => originOf(join(directory, name))));
  const isOurs = isService || origins.includes('own') || names.some((name) => SET_ASIDE.test(name));
  const taken = written.find((_, i) => origins[i] === 'foreign' || (origins[i] === 'blank' && !isOurs));
  if (taken !== undefined) return leftAlone(join(directory, taken));
  if (isOurs) return undefined;
  const others: string[] = [];
  for (const name of names.filter((each) => !TOLERATED.test(each))) {
    const stat = await promises.lstat(join(directory, name)).catch(() => undefined);
    if (stat?.isFile()) others.push(name);
    if (others.length > MOST_NAMED) break;
  }
  if (others.length === 0) return undefined;
  const named = others.slice(0, MOST_NAMED).join(', ') + (others.length > MOST_NAMED ? ', …' : '');
  return `${directory} has other files in it (${named}), so it is not used; name a new or empty directory`;
}

/** Throws if there is a file with this name that this program did not write. */
export async function claim(path: string): Promise<void> {
  if ((await originOf(path)) === 'foreign') throw new Error(leftAlone(path));
}

function leftAlone(path: string): string {
  return `${path} is not a state file, so it is not replaced; move it, or name another directory`;
}

type Origin = 'own' | 'blank' | 'foreign' | 'missing';

/** Finds out who wrote a file that has one of our names. */
async function originOf(path: string): Promise<Origin> {
  const stat = await promises.lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!stat) return 'missing';
  if (!stat.isFile()) return 'foreign';
  if (SPECIFIC.test(basename(path))) return 'own';
  const head = await headOf(path);
  return OWN_HEAD.test(head) ? 'own' : BLANK.test(head) ? 'blank' : 'foreign';
}

async function headOf(path: string): Promise<string> {
  const file = await promises.open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}
