import { closeSync, openSync, readFileSync } from 'node:fs';

/** File descriptors that clients of lines and of REST leave free for ports, listening sockets and files. */
export const RESERVED_DESCRIPTORS = 32;

/**
 * Returns how many file descriptors this process may have (its soft limit); undefined if the system does not
 * report it.
 */
export function descriptorLimit(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/**
 * Returns the lowest free file descriptor: all below it are in use. Queries the system (some 10 µs), because
 * the descriptor of a new socket may fill a gap far below others in use.
 * @returns infinity if none is free
 */
export function lowestFreeDescriptor(): number {
  try {
    const descriptor = openSync('/dev/null', 'r');
    closeSync(descriptor);
    return descriptor;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
