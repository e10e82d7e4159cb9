import { closeSync, readSync, writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { ptyAdapter } from './adapter.js';
import { createClientLink, keepClientLink, removeClientLink } from './client-link.js';
import { NOTHING, newPoller, READABLE } from './kernel-timer.js';
import { IN_CLOSE_WRITE, loadLibc } from './libc.js';
import { type PacedLane, type Pacing, startPacedLane } from './pacing.js';
import type { BytePort, OpenResult, PortFacts, PortListener } from './port.js';
import { openPty, type Pty } from './pty.js';

export interface VirtualPortOptions {
  /**
   * A stable name for the client: a symbolic link to the client side, created when the line is opened and
   * removed when it is closed. Its directory must exist.
   */
  readonly link?: string;
  /** Makes the line behave like a real adapter in both directions; without it bytes pass at once. */
  readonly pacing?: Pacing;
}

/** A serial line without hardware: a client opens `path` (or `link`) as its serial port. */
export type VirtualPort = BytePort & Required<Pick<BytePort, 'setPacing'>>;

/** With this many bytes pending, a client that writes faster than the paced line must wait, as on a real port. */
const PACED_INPUT_LIMIT = 4096;

/** Why bytes were lost. */
const NOBODY = 'no client has the line open';
const FULL = 'the client does not read, and its buffer is full';

/** How often to check for bytes that a client left unread, in ms. */
const LEFTOVER_CHECK = 100;

const clientSides = new Set<string>();

/** Reports whether this path, without links, is the client end of one of this program's virtual lines. */
export function isClientSide(path: string): boolean {
  return clientSides.has(path);
}

/**
 * Opens a virtual line.
 *
 * Bytes that a client does not read are treated as in a real port's kernel buffer:
 * - If no client has the line open, the bytes are lost. A pseudo-terminal would keep them for the next
 *   client, which would mistake a reply to another client for its own. So each write first checks that there
 *   is a client, and bytes that a client left unread are discarded when it closes.
 * - If a client has the line open but does not read, the bytes wait until the buffer (some 20 kB) is full.
 *   Further bytes are lost, as in an overrun. A write never blocks or queues.
 *
 * Settings stay as a client left them, except those that would keep the next client from using the line
 * (`Pty.makeSettable`, `Pty.letClientSend`).
 */
export async function openVirtualPort(
  options: VirtualPortOptions,
  listener: PortListener,
): Promise<OpenResult<VirtualPort>> {
  const [opened, closings] = [await openPty(), await clientClosings()];
  if (!opened.ok) return opened;
  const { pty } = opened;
  const stream = new ReadStream(pty.masterFd);

  const linkError = options.link === undefined ? undefined : createClientLink(options.link, pty.path);
  if (linkError !== undefined) {
    stream.destroy();
    pty.close();
    return { ok: false, error: linkError };
  }
  return { ok: true, port: runPort(pty, stream, options, listener, closings), notes: [] };
}

function runPort(
  pty: Pty,
  stream: ReadStream,
  options: VirtualPortOptions,
  listener: PortListener,
  closings: ClientClosings | undefined,
): VirtualPort {
  const { link } = options;
  let open = true;
  const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
  const output = startOutput(pty, (reason) => gone(reason));
  let input: PacedLane | undefined;
  let paced: PacedLane | undefined;
  const setPacing = (pacing: Pacing | undefined): void => {
    if (!open) return;
    const [oldInput, oldPaced] = [input, paced];
    input = pacing && startPacedLane(pacing, (chunk) => deliver(chunk));
    paced = pacing && startPacedLane(pacing, (chunk) => void output.write(chunk));
    oldPaced?.finish();
    oldInput?.finish();
    if (open) stream.resume();
  };
  const deliver = (chunk: Uint8Array): void => {
    if (!open) return;
    listener.onData(chunk);
    if (open && (input?.pending() ?? 0) < PACED_INPUT_LIMIT) stream.resume();
  };
  const receive = (chunk: Uint8Array): void => {
    // Do this before the client has a reply: after that it may change its settings, or close and reopen the
    // line.
    pty.makeSettable();
    input?.write(chunk);
    if (input === undefined) listener.onData(chunk);
    else if (input.pending() >= PACED_INPUT_LIMIT) stream.pause();
  };

  const shut = (): void => {
    open = false;
    clientSides.delete(pty.path);
    input?.stop();
    paced?.stop();
    output.stop();
    stopWatching?.();
    stream.destroy();
    pty.close();
    stopKeeping?.();
    if (link !== undefined) removeClientLink(link, pty.path);
  };
  const gone = (reason: string): void => {
    if (!open) return;
    shut();
    listener.onClose(`${pty.path}: ${reason}`);
  };
  clientSides.add(pty.path);
  const stopKeeping = link === undefined ? undefined : keepClientLink(link, pty.path);
  const stopWatching = closings?.watch(pty.path, output.onClientClosed);
  stream.on('data', receive);
  setPacing(options.pacing);
  stream.on('error', (error) => gone(error.message));
  stream.on('close', () => gone('the pseudo-terminal was closed'));

  return {
    path: pty.path,
    ...(link !== undefined && { link }),
    write: (bytes) => {
      if (!open) return 'the line is closed';
      if (!paced) return output.write(bytes);
      paced.write(bytes);
      return pty.hasClient() ? undefined : NOBODY;
    },
    isSending: () => (paced?.pending() ?? 0) > 0,
    setPacing,
    facts: () => virtualFacts,
    close: () => {
      if (open) shut();
      return closed;
    },
  };
}

const virtualFacts: PortFacts = {
  adapter: ptyAdapter,
  settings: undefined,
  lowLatency: undefined,
  parityMarks: false,
  direction: 'nothing to switch: a virtual line has no driver',
};

/** Writes to the client, and treats unread bytes as described at `openVirtualPort`. */
function startOutput(pty: Pty, onError: (reason: string) => void) {
  let check: NodeJS.Timeout | undefined;

  const cleanUp = (): void => {
    pty.discardUnread();
    pty.letClientSend();
    pty.makeSettable();
  };
  // Discards bytes that a client left unread, if closings can't be watched or the bytes were in flight when
  // it closed.
  const checkLeftovers = (): void => {
    check = undefined;
    if (!pty.hasClient()) cleanUp();
    else if (pty.unread() > 0) check = setTimeout(checkLeftovers, LEFTOVER_CHECK).unref();
  };

  return {
    onClientClosed(): void {
      // A client that opened the line in the meantime can't know that the line was stopped. Its settings are
      // left alone: if they changed while the client sets them, its C library would conclude that the client
      // had changed nothing.
      if (pty.hasClient()) pty.letClientSend();
      else cleanUp();
    },
    write(bytes: Uint8Array): string | undefined {
      if (!pty.hasClient()) {
        cleanUp();
        return NOBODY;
      }
      check ??= setTimeout(checkLeftovers, LEFTOVER_CHECK).unref();
      try {
        const taken = writeSync(pty.masterFd, bytes);
        if (taken === bytes.length) return undefined;
        return `${FULL}: it took the first ${taken} of ${bytes.length} bytes`;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code === 'EAGAIN') return FULL;
        onError(message);
        return message;
      }
    },
    stop: () => clearTimeout(check),
  };
}

/** Reports when a program closes a file that it had open for writing. */
interface ClientClosings {
  /**
   * Watches a file.
   * @param closed called shortly after one or more closings
   * @returns a function that stops watching
   */
  watch(path: string, closed: () => void): () => void;
}

/**
 * The length and a field of `struct inotify_event`: the watch (i32), its mask and cookie, and the length of
 * the name after it (u32).
 */
const EVENT_BYTES = 16;
const NAME_LENGTH_AT = 12;

let loading: Promise<ClientClosings | undefined> | undefined;

/**
 * Starts watching on first use. Later calls share the result, because a user has only about 128 inotify
 * descriptors.
 * @returns undefined if the kernel, the C library or serialport can't do it, or in a worker thread
 */
function clientClosings(): Promise<ClientClosings | undefined> {
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
  // The poller reports once per request; a request for nothing does not keep the process alive.
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

/** Reads the next events; the rest stays for the next turn. @returns the watches named by the events */
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
