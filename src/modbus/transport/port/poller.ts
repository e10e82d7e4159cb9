import { isMainThread } from 'node:worker_threads';
import type { LinuxPortBinding } from '@serialport/bindings-cpp';

/** Numbers of `EVENTS` of serialport's poller, which does not export them. */
export const READABLE = 1;
export const NOTHING = 0;

/** Settings for a port of serialport of which only the poller is used. */
const NO_OPTIONS = {} as never;

/**
 * Makes the event loop watch a descriptor for which Node has no stream. serialport's poller can watch any
 * descriptor, but only serialport's port can make a poller.
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
