import type { Stats } from 'node:fs';
import { type Libc, type LibcResult, POLLHUP } from './libc.js';
import { statOf } from './port-path.js';

/**
 * How often an open port is looked at, in ms. A name that vanished or leads to another device makes nothing readable,
 * and drivers differ in whether they hang up, so the notice that a read gives of an unplugged adapter is not enough.
 */
const WATCHDOG_INTERVAL = 500;

export interface Watched {
  readonly path: string;
  /** What was behind the path when the port was opened. */
  readonly device: Stats;
  /** The open descriptor; undefined when it was closed. */
  fd(): number | undefined;
  readonly loaded: LibcResult;
}

/** Calls `gone` with the reason at each check that finds the port gone. @returns a function that ends the checks. */
export function startWatchdog(watched: Watched, gone: (reason: string) => void): () => void {
  const look = (): void => {
    const problem = problemOf(watched);
    if (problem !== undefined) gone(problem);
  };
  const timer = setInterval(look, WATCHDOG_INTERVAL).unref();
  return () => clearInterval(timer);
}

function problemOf({ path, device, fd, loaded }: Watched): string | undefined {
  const stats = statOf(path);
  if (typeof stats === 'string') return 'vanished';
  if (stats.rdev !== device.rdev || stats.ino !== device.ino) return 'is another device now';
  const open = fd();
  if (open === undefined) return 'closed';
  // The name may be there (again) while the device behind the descriptor is dead.
  return loaded.ok ? hangUpOf(loaded.libc, open) : undefined;
}

/** Why the device behind an open descriptor is dead; undefined while it is not. */
export function hangUpOf(libc: Libc, fd: number): string | undefined {
  const events = libc.pollNow(fd);
  // A negative result is an errno of poll(2). None of them means that the device is gone.
  return events >= 0 && (events & POLLHUP) !== 0 ? 'hung up (POLLHUP)' : undefined;
}
