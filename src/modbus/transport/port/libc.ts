import { closeSync } from 'node:fs';
import { machine } from 'node:os';
import { HERE } from '../../../common/platform.js';
import { failure } from '../../../common/result.js';

/**
 * The C library functions this project needs, called through koffi. Every function returns the result of the
 * C function, or the negative errno on error, like the kernel.
 *
 * Terminal settings use the kernel's `termios2` ioctls, not tcgetattr: glibc 2.42 changed the meaning of the
 * speed fields of its `struct termios`, while the kernel's structure is fixed and contains the speed as a
 * number.
 */
export interface Libc {
  posixOpenpt(flags: number): number;
  grantpt(fd: number): number;
  unlockpt(fd: number): number;
  /** Writes the path of the client side, NUL-terminated, into `buffer`. */
  ptsnameR(fd: number, buffer: Uint8Array): number;
  /** `argument` is the structure the request reads or writes; null for requests without one. */
  ioctl(fd: number, request: number, argument: Uint8Array | null): number;
  /** `queue`: 0 discards input not yet read (TCIFLUSH), 1 output not yet sent (TCOFLUSH). */
  tcflush(fd: number, queue: 0 | 1): number;
  /** `action`: 0 suspends output (TCOOFF), 1 resumes it (TCOON). */
  tcflow(fd: number, action: 0 | 1): number;
  /** Returns the events of one descriptor at this moment (poll(2) with timeout 0). */
  pollNow(fd: number): number;
  /** Locks the file for this open descriptor alone; fails at once if another descriptor has it locked (flock(2)). */
  lockNow(fd: number): number;
  /**
   * Returns a descriptor that becomes readable when something happens to a watched file (inotify(7)). Reading
   * never blocks.
   */
  inotifyInit(): number;
  /** Watches a file for the events of `mask`. Returns the number that identifies the watch in events. */
  inotifyAddWatch(fd: number, path: string, mask: number): number;
  inotifyRmWatch(fd: number, watch: number): number;
  /** Returns a descriptor that becomes readable at a set time. */
  timerfdCreate(clock: number, flags: number): number;
  /** Sets the time of such a descriptor, relative to now. `time` is a `struct itimerspec` with 64-bit fields. */
  timerfdSettime(fd: number, time: Uint8Array): number;
  /**
   * Returns a descriptor that sends each write as a datagram to a socket. `@name` is in the abstract
   * namespace. Writing never blocks.
   */
  connectDatagrams(path: string): number;
  /** Reads the scheduling of the calling thread into `attributes`, a `struct sched_attr` of any of its lengths. */
  schedGetattr(attributes: Uint8Array): number;
  /** Sets the scheduling of the calling thread from `attributes`, which begin with their own length. */
  schedSetattr(attributes: Uint8Array): number;
}

/** The library, or why it did not load. `error` is the middle of a sentence: 'koffi did not load (…)'. */
export type LibcResult =
  | { readonly ok: true; readonly libc: Libc }
  | { readonly ok: false; readonly error: string };

/** ioctl requests of asm-generic/ioctls.h. */
export const TCGETS2 = 0x802c542a;
export const TIOCGICOUNT = 0x545d;
export const TCSETS2 = 0x402c542b;
export const TIOCEXCL = 0x540c;
export const TIOCNXCL = 0x540d;
export const TIOCGEXCL = 0x80045440;
/** Sets CLOCAL, or clears it if the number is 0; leaves all other settings alone. */
export const TIOCSSOFTCAR = 0x541a;
/** Reads the number of bytes available for reading. */
export const FIONREAD = 0x541b;
/** Reads the number of bytes that were written but are not yet in the driver's FIFO. */
export const TIOCOUTQ = 0x5411;
/** Reads a word of flags, of which only TIOCSER_TEMT is defined: the FIFO and the shift register are empty. */
export const TIOCSERGETLSR = 0x5459;
export const TIOCSER_TEMT = 1;
/** Requests for modem lines: read all, set some, clear some. */
export const TIOCMGET = 0x5415;
export const TIOCMBIS = 0x5416;
export const TIOCMBIC = 0x5417;
export const TIOCM_RTS = 4;
/** Requests for the kernel's RS-485 mode, struct serial_rs485. */
export const TIOCGRS485 = 0x542e;
export const TIOCSRS485 = 0x542f;

/** Constants of socket(2) and unix(7). */
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;

/** Flags of flock(2): an exclusive lock, without waiting. */
const LOCK_EX = 2;
const LOCK_NB = 4;

/** Flags of inotify_init1(2), as for open(2). */
const IN_NONBLOCK = 0o4000;
const IN_CLOEXEC = 0o2000000;
/** The event of inotify(7) for closing a file that was open for writing. */
export const IN_CLOSE_WRITE = 8;

/** The event of poll(2) for a closed other side, or a device that is gone. It is reported even if not requested. */
export const POLLHUP = 0x10;

/** The numbers of system calls that C libraries lack: glibc has had sched_setattr(2) only since 2.41. */
interface SystemCalls {
  readonly schedSetattr: number;
  readonly schedGetattr: number;
}

const GENERIC: SystemCalls = { schedSetattr: 274, schedGetattr: 275 };

/**
 * The machines known to work: little-endian, with the ioctl numbers of asm-generic. On mips, ppc and s390x
 * the numbers differ.
 */
const KNOWN_MACHINES: ReadonlyMap<string, SystemCalls> = new Map([
  ['x64', { schedSetattr: 314, schedGetattr: 315 }],
  ['arm64', GENERIC],
  ['arm', { schedSetattr: 380, schedGetattr: 381 }],
  ['ia32', { schedSetattr: 351, schedGetattr: 352 }],
  ['riscv64', GENERIC],
  ['loong64', GENERIC],
]);

type Native = (...args: (number | Uint8Array | null)[]) => number;

let loading: Promise<LibcResult> | undefined;

/**
 * Loads the C library on first use. Later calls share the result, because koffi never frees a function it
 * defined, and a port that vanished may be reopened many times.
 */
export function loadLibc(): Promise<LibcResult> {
  loading ??= load();
  return loading;
}

async function load(): Promise<LibcResult> {
  if (!HERE.isLinux) return failure(`it needs Linux, and this is ${HERE.name}`);
  const systemCalls = KNOWN_MACHINES.get(process.arch);
  if (systemCalls === undefined) {
    return failure(`the terminal ioctl numbers for ${process.arch} are not known`);
  }
  const unusable = processorProblem(process.arch, machine());
  if (unusable !== undefined) return failure(unusable);
  try {
    const { default: koffi } = await import('koffi');
    // The process itself, which has its C library, glibc or musl, already loaded.
    const library = koffi.load(null);
    const define = (name: string, args: string[]): Native => {
      const native = library.func(name, 'int', args) as Native;
      return (...values) => {
        const result = native(...values);
        return result < 0 ? -koffi.errno() : result;
      };
    };
    return { ok: true, libc: bind(define, systemCalls) };
  } catch (error) {
    const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return failure(`koffi did not load (${message})`);
  }
}

/** Loads the function of winmm.dll that sets the tick; undefined if koffi does not load. */
export async function loadWinmm(): Promise<((ms: number) => number) | undefined> {
  try {
    const { default: koffi } = await import('koffi');
    return koffi.load('winmm.dll').func('timeBeginPeriod', 'uint', ['uint']) as (ms: number) => number;
  } catch {
    return undefined;
  }
}

/**
 * Returns why koffi can't run on this processor. Its binary for 32-bit ARM is built for Thumb-2, so the first
 * call into it kills a process on a Pi 1, Zero or Zero W with SIGILL. Only the machine name reveals this:
 * /proc/cpuinfo reports an ARMv6 as "CPU architecture: 7" and is hidden from services, and the architecture
 * that Node was built for is not that of the processor.
 * @param machine as reported by uname(2): armv6l, armv7l, or aarch64 with 32-bit programs
 * @returns what is missing, as the middle of a sentence; undefined if koffi can run
 */
export function processorProblem(arch: string, machine: string): string | undefined {
  const version = arch === 'arm' ? /^armv(\d)/.exec(machine)?.[1] : undefined;
  return version !== undefined && Number(version) < 7
    ? `ARMv7 or later is needed for virtual lines, RS-485 settings and exact timers, and this is ARMv${version}`
    : undefined;
}

function bind(define: (name: string, args: string[]) => Native, systemCalls: SystemCalls): Libc {
  const ptsname = define('ptsname_r', ['int', 'void *', 'size_t']);
  const poll = define('poll', ['void *', 'ulong', 'int']);
  const flock = define('flock', ['int', 'int']);
  const inotifyInit = define('inotify_init1', ['int']);
  const inotifyAddWatch = define('inotify_add_watch', ['int', 'void *', 'uint32_t']);
  const settime = define('timerfd_settime', ['int', 'int', 'void *', 'void *']);
  const socket = define('socket', ['int', 'int', 'int']);
  const connect = define('connect', ['int', 'void *', 'int']);
  const syscall = define('syscall', ['long', 'long', 'void *', 'ulong', 'ulong']);
  return {
    posixOpenpt: define('posix_openpt', ['int']),
    grantpt: define('grantpt', ['int']),
    unlockpt: define('unlockpt', ['int']),
    // ptsname_r returns the errno itself.
    ptsnameR: (fd, buffer) => -ptsname(fd, buffer, buffer.length),
    ioctl: define('ioctl', ['int', 'ulong', 'void *']),
    tcflush: define('tcflush', ['int', 'int']),
    tcflow: define('tcflow', ['int', 'int']),
    pollNow: (fd) => {
      const entry = Buffer.alloc(8);
      entry.writeInt32LE(fd, 0);
      const result = poll(entry, 1, 0);
      return result < 0 ? result : entry.readInt16LE(6);
    },
    lockNow: (fd) => flock(fd, LOCK_EX | LOCK_NB),
    inotifyInit: () => inotifyInit(IN_NONBLOCK | IN_CLOEXEC),
    inotifyAddWatch: (fd, path, mask) => inotifyAddWatch(fd, Buffer.from(`${path}\0`), mask),
    inotifyRmWatch: define('inotify_rm_watch', ['int', 'int']),
    timerfdCreate: define('timerfd_create', ['int', 'int']),
    timerfdSettime: (fd, time) => settime(fd, 0, time, null),
    connectDatagrams: (path) => {
      const address = unixAddress(path);
      const fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      const connected = fd < 0 ? fd : connect(fd, address, address.length);
      if (connected < 0 && fd >= 0) closeSync(fd);
      return connected < 0 ? connected : fd;
    },
    schedGetattr: (attributes) => syscall(systemCalls.schedGetattr, 0, attributes, attributes.length, 0),
    schedSetattr: (attributes) => syscall(systemCalls.schedSetattr, 0, attributes, 0, 0),
  };
}

/** Returns a `struct sockaddr_un`: the family, then the path with its NUL, or a NUL followed by an abstract name. */
function unixAddress(path: string): Uint8Array {
  const name = path.startsWith('@') ? `\0${path.slice(1)}` : `${path}\0`;
  return Buffer.from(`${String.fromCharCode(AF_UNIX)}\0${name}`);
}
