import { closeSync, readSync } from 'node:fs';
import { IN_CLOSE_WRITE, loadLibc } from './libc.js';
import { NOTHING, newPoller, READABLE } from './poller.js';

/** Tells when a program closes a file that it had open for writing. */
export interface ClientClosings {
  /**
   * Watches a file.
   * @param closed is called soon after one closing or several
   * @returns a function that ends the watch
   */
  watch(path: string, closed: () => void): () => void;
}

/**
 * The length and a field of `struct inotify_event`: the watch (i32), its mask and cookie, and the length of
 * the name behind it (u32).
 */
const EVENT_BYTES = 16;
const NAME_LENGTH_AT = 12;

let loading: Promise<ClientClosings | undefined> | undefined;

/**
 * Begins to watch on first use. Later calls share the result, because a user has only some 128 inotify
 * descriptors.
 * @returns undefined where the kernel, the C library or serialport can't do it, or in a worker thread
 */
export function clientClosings(): Promise<ClientClosings | undefined> {
  loading ??= open();
  return loading;
}

async function open(): Promise<ClientClosings | undefined> {
  const loaded = await loadLibc();
  if (!loaded.ok) return undefined;
  const { libc } = loaded;
  const fd = libc.inotifyInit();
  if (fd < 0) return undefined;
  const poller = await newPoller(fd);
  if (poller === undefined) {
    closeSync(fd);
    return undefined;
  }
  const watches = new Map<number, () => void>();
  // The poller reports once for each time it is asked; asked for nothing, it does not keep the process alive.
  const wait = (): void => poller.poll(watches.size > 0 ? READABLE : NOTHING);
  const events = Buffer.alloc(256 * EVENT_BYTES);
  poller.on('readable', () => {
    for (const watch of readWatches(fd, events)) watches.get(watch)?.();
    wait();
  });
  return {
    watch(path, closed) {
      const watch = libc.inotifyAddWatch(fd, path, IN_CLOSE_WRITE);
      if (watch < 0) return () => {};
      watches.set(watch, closed);
      wait();
      return () => {
        watches.delete(watch);
        libc.inotifyRmWatch(fd, watch);
        wait();
      };
    },
  };
}

/** Reads the next events. More events stay for the next turn. @returns the watches that the events name */
function readWatches(fd: number, events: Buffer): ReadonlySet<number> {
  const found = new Set<number>();
  let length = 0;
  try {
    length = readSync(fd, events);
  } catch {
    // EAGAIN: there is nothing to read.
  }
  for (let at = 0; at < length; at += EVENT_BYTES + events.readUInt32LE(at + NAME_LENGTH_AT)) {
    found.add(events.readInt32LE(at));
  }
  return found;
}
