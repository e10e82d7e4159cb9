import { isMainThread } from 'node:worker_threads';
import type { LinuxPortBinding } from '@serialport/bindings-cpp';

/** `EVENTS` of serialport's poller, which does not export them. */
export const READABLE = 1;
export const NOTHING = 0;

/** The poller needs none of the settings of a port. */
const NO_OPTIONS = {} as never;

/**
 * Lets the event loop watch a descriptor that Node has no stream for. The poller watches any; only the port
 * of serialport knows how to make one.
 * @returns undefined where the loop can't watch it: no serialport, or a worker thread, where the poller would
 * wake the loop of another thread
 */
export async function newPoller(fd: number): Promise<LinuxPortBinding['poller'] | undefined> {
  if (!isMainThread) return undefined;
  try {
    const { LinuxPortBinding } = await import('@serialport/bindings-cpp');
    return new LinuxPortBinding(fd, NO_OPTIONS).poller;
  } catch {
    return undefined;
  }
}
