import { closeSync, openSync, readFileSync } from 'node:fs';

/** Descriptors that clients of lines and of REST leave free: for ports, listening sockets and files. */
export const RESERVED_DESCRIPTORS = 32;

/** How many descriptors this process may have (its soft limit); undefined where the system does not say. */
export function descriptorLimit(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/**
 * The lowest descriptor that is free: all below it are in use. Asked of the system (some 10 µs), because the
 * descriptor of a new socket may be one that has just become free below many others.
 * @returns infinity when none is free
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
