import { constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { isatty } from 'node:tty';
import { Outlet } from './outlet.js';

const { O_WRONLY, O_NOCTTY, O_NONBLOCK } = constants;

/** All outlets of the process. It waits for them before it exits. */
const outlets = new Set<Outlet>();
let output: Outlet | undefined;
let error: Outlet | undefined;

/** Opens an outlet that is flushed before the process exits. */
export function openOutlet(descriptor: number, blocks: boolean): Outlet {
  if (outlets.size === 0) {
    process.once('exit', () => {
      for (const each of outlets) each.writeLast();
    });
  }
  const outlet = new Outlet(descriptor, blocks);
  outlets.add(outlet);
  return outlet;
}

export function standardOutput(): Outlet {
  output ??= standardOutlet('stdout');
  return output;
}

/**
 * Standard error. If it is the same terminal or file as standard output, they share an outlet, so that lines
 * stay in order.
 */
export function standardError(): Outlet {
  error ??= isSame(1, 2) ? standardOutput() : standardOutlet('stderr');
  return error;
}

/**
 * Resolves when all output and all log entries have been written, or their readers are gone. Waits for a
 * pager like other tools do; a stop signal ends the process earlier.
 * @returns the exit code: `code`, or 1 if standard output could not be written
 */
export async function writtenOut(code: number): Promise<number> {
  await output?.empty();
  const failure = output?.failure;
  if (failure) standardError().print(`standard output: ${failure.message}\n`);
  for (const each of outlets) await each.empty();
  return failure && code === 0 ? 1 : code;
}

function standardOutlet(name: 'stdout' | 'stderr'): Outlet {
  // Reading this property creates a stream, which makes Node switch a pipe or socket to non-blocking.
  const { fd } = process[name];
  if (isatty(fd)) {
    const own = ownTerminal(fd);
    return openOutlet(own ?? fd, own === undefined);
  }
  const stats = statsOf(fd);
  return openOutlet(fd, !(stats?.isFIFO() || stats?.isSocket()));
}

/**
 * Opens a terminal a second time. Other programs share our open file description (open(2)), so making it
 * non-blocking would affect their reads and writes. A terminal of another user, as after su(1), can only be
 * opened as the controlling terminal (tty(4)).
 * @returns a non-blocking descriptor; undefined if the terminal can't be opened
 */
function ownTerminal(fd: number): number | undefined {
  for (const path of [`/proc/self/fd/${fd}`, ...(isControlling(fd) ? ['/dev/tty'] : [])]) {
    try {
      return openSync(path, O_WRONLY | O_NOCTTY | O_NONBLOCK);
    } catch {
      // The next path may work.
    }
  }
  return undefined;
}

/**
 * Whether a descriptor is the controlling terminal: `tty_nr` in proc_pid_stat(5). It follows the program's
 * name, which may contain spaces.
 */
function isControlling(fd: number): boolean {
  try {
    const [, , , , terminal] = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return Number(terminal) === fstatSync(fd).rdev;
  } catch {
    return false;
  }
}

function isSame(one: number, other: number): boolean {
  const [a, b] = [statsOf(one), statsOf(other)];
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}

/** The stats of a descriptor; undefined if Windows does not provide them, for example for a write-only file. */
function statsOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined;
  }
}
