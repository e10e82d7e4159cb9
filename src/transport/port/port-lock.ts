import { closeSync, constants, openSync } from 'node:fs';
import type { Libc } from './libc.js';

/** A lock on a serial port. Other programs that lock ports (flock(2)) are kept out until it is released. */
export interface PortLock {
  release(): void;
}

/**
 * Locks a port without changing any of its settings. /proc/locks would tell who has a port, but the services of
 * systemd don't see that file (ProcSubset=pid), and no look at it rules out a program that comes a moment later.
 * @returns the lock, or the text of the error.
 */
export function lockPort(path: string, libc: Libc): PortLock | string {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch (error) {
    return (error as Error).message;
  }
  if (libc.lockNow(fd) < 0) {
    closeSync(fd);
    return 'cannot lock port';
  }
  return { release: () => closeSync(fd) };
}
