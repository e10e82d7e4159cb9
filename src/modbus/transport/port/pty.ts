import { closeSync, constants, fchmodSync, fchownSync, openSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { failure, type Result, success } from '../../../common/result.js';
import {
  FIONREAD,
  type Libc,
  loadLibc,
  POLLHUP,
  TIOCEXCL,
  TIOCGEXCL,
  TIOCNXCL,
  TIOCSSOFTCAR,
} from './libc.js';
import { changeTermios2, rawTermios2 } from './termios.js';

/** A pseudo-terminal pair in raw mode. We own the master side; a client opens the other side by its path. */
export interface Pty {
  /** The descriptor of the master side, non-blocking. A stream created from it owns it; `close` leaves it open. */
  readonly masterFd: number;
  /** The client side, for example /dev/pts/3. */
  readonly path: string;
  /** Reports whether a program has the client side open at this moment. Takes about 7 µs (measured). */
  hasClient(): boolean;
  /**
   * Returns the number of bytes written to the master that no client has read. The kernel needs a moment to
   * count new ones.
   */
  unread(): number;
  /** Discards the bytes written to the master and not yet read. */
  discardUnread(): void;
  /**
   * Makes the settings differ from those of any serial client, so that a client can set them again. A
   * pseudo-terminal has no parity and 8 bits, whatever is set, and some C libraries, including Debian's,
   * report EINVAL if such a setting is the only change: a second client with even parity could not open the
   * line. The difference is CLOCAL, which such clients set and a pseudo-terminal does not use.
   */
  makeSettable(): void;
  /** Lets the client side send again. A client (TCOOFF) or a byte 0x13 sent to it (IXON) may have stopped it. */
  letClientSend(): void;
  /** Closes the descriptor that keeps the client side open. */
  close(): void;
}

export type PtyResult =
  | { readonly ok: true; readonly pty: Pty }
  /** The error is one sentence. `unfit` is true if this system will never have a pseudo-terminal. */
  | { readonly ok: false; readonly error: string; readonly unfit?: true };

const masterFlags = constants.O_RDWR | constants.O_NOCTTY;
/**
 * Our descriptor is read-only, so that closing it does not look like a client closing the line (see
 * virtual-port.ts).
 */
const clientFlags = constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK;
/** The flag has this value on all machines that libc.ts knows; node:fs has no constant for it. */
const O_CLOEXEC = 0o2000000;

/** Opens a pseudo-terminal pair in raw mode, and keeps one descriptor on the client side open. */
export async function openPty(): Promise<PtyResult> {
  const loaded = await loadLibc();
  if (!loaded.ok) return { ...failed(loaded.error), unfit: true };
  const { libc } = loaded;

  const masterFd = libc.posixOpenpt(masterFlags | constants.O_NONBLOCK | O_CLOEXEC);
  if (masterFd < 0) return failed(`posix_openpt: ${explain(getSystemErrorName(masterFd))}`);
  const prepared = prepareClientSide(libc, masterFd);
  if (!prepared.ok) {
    closeSync(masterFd);
    return failed(prepared.error);
  }
  return { ok: true, pty: keepOpen(libc, masterFd, prepared.value.path, prepared.value.clientFd) };
}

/** Prepares the client side. @returns the step that failed, or the path and the descriptor of the client side */
function prepareClientSide(libc: Libc, masterFd: number): Result<{ path: string; clientFd: number }> {
  const name = Buffer.alloc(128);
  const steps: [string, () => number][] = [
    ['grantpt', () => libc.grantpt(masterFd)],
    ['unlockpt', () => libc.unlockpt(masterFd)],
    ['ptsname_r', () => libc.ptsnameR(masterFd, name)],
  ];
  for (const [step, run] of steps) {
    const result = run();
    if (result < 0) return failure(`${step}: ${getSystemErrorName(result)}`);
  }
  const path = name.toString('latin1', 0, name.indexOf(0));
  const clientFd = tryOpen(path);
  if (clientFd < 0) return failure(`${path} can't be opened`);

  const notRaw = changeTermios2(libc, clientFd, rawTermios2);
  if (notRaw !== undefined) {
    closeSync(clientFd);
    return failure(`raw mode: ${notRaw}`);
  }
  shareWithGroup(clientFd);
  return success({ path, clientFd });
}

/** An int that is 0, as an argument of ioctl(2). */
const NO = Buffer.alloc(4);

/** Access for the owner and the group, as far as the umask allows. */
const PTY_MODE = 0o660;

/**
 * Gives the client side to the group of this program, so that clients of other users in that group may open
 * the line like a real port, if the umask allows it. The kernel gives every pseudo-terminal to the group tty,
 * which has no members.
 */
function shareWithGroup(clientFd: number): void {
  try {
    fchownSync(clientFd, -1, process.getegid?.() ?? -1);
    fchmodSync(clientFd, PTY_MODE & ~process.umask());
  } catch {
    // On a file system without owners, the line still serves its own user.
  }
}

/**
 * Keeps one descriptor of the client side open, so that clients may come and go without a hang-up on the
 * master. To find out whether there is a client, that descriptor is closed for the duration of one poll(2):
 * the kernel reports POLLHUP on the master only if no other descriptor has the client side open. No other
 * turn of the event loop sees that moment.
 */
function keepOpen(libc: Libc, masterFd: number, path: string, firstFd: number): Pty {
  const number = Buffer.alloc(4);
  let clientFd = firstFd;

  const makeSettable = (): void => {
    libc.ioctl(clientFd, TIOCSSOFTCAR, NO);
  };
  makeSettable();

  const hasClient = (): boolean => {
    // A client that set TIOCEXCL would keep us from reopening the path, and the path would stay locked
    // forever.
    const exclusive = libc.ioctl(clientFd, TIOCGEXCL, number) === 0 && number.readInt32LE() !== 0;
    if (exclusive) libc.ioctl(clientFd, TIOCNXCL, null);
    if (clientFd >= 0) closeSync(clientFd);
    const present = (libc.pollNow(masterFd) & POLLHUP) === 0;
    clientFd = tryOpen(path);
    if (exclusive && present) libc.ioctl(clientFd, TIOCEXCL, null);
    return present;
  };

  return {
    masterFd,
    path,
    hasClient,
    unread: () => (libc.ioctl(clientFd, FIONREAD, number) === 0 ? number.readInt32LE() : 0),
    discardUnread: () => {
      // Bytes in flight between the two sides are discarded first, then the bytes that have arrived.
      libc.tcflush(masterFd, 1);
      libc.tcflush(clientFd, 0);
    },
    makeSettable,
    letClientSend: () => {
      // TCOON undoes only TCOOFF, so a stop by 0x13 is first turned into one by TCOOFF.
      libc.tcflow(clientFd, 0);
      libc.tcflow(clientFd, 1);
    },
    close: () => {
      if (clientFd >= 0) closeSync(clientFd);
      clientFd = -1;
    },
  };
}

/** Opens a file. libuv adds O_CLOEXEC. @returns a descriptor, or -1 */
function tryOpen(path: string): number {
  try {
    return openSync(path, clientFlags);
  } catch {
    return -1;
  }
}

function failed(why: string) {
  return { ok: false as const, error: `no pseudo-terminal for the virtual line: ${why}` };
}

/** Explains an error of posix_openpt(3), which opens /dev/ptmx. */
function explain(name: string): string {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'is /dev/ptmx there?',
    EMFILE: 'too many files and sockets are open, see ulimit -n',
    ENOSPC: 'too many pseudo-terminals are open',
  };
  return name in reasons ? `${name} (${reasons[name]})` : name;
}
