import { readSync, writeSync } from 'node:fs';
import type { SerialPort } from 'serialport';
import { copyOf, NO_BYTES } from '../../protocol/bytes.js';
import { READABLE } from './kernel-timer.js';

/*
 * Reads and writes on systems where serialport has no poller and no descriptor, such as Windows: with the
 * read and write of its binding, each of which occupies a thread until it is done.
 */

/**
 * How often to ask a port for its baud rate, in ms. The driver of an unplugged adapter refuses to answer;
 * some drivers never end the pending read.
 */
const LOOK_INTERVAL = 500;
/** How long to wait after a read that returned no bytes, in ms. */
const EMPTY_PAUSE = 20;

/**
 * Reads with the binding's read, which returns what has arrived as soon as there is a byte.
 * @returns a function that stops reading
 */
export function startBindingReader({ port, heard, gone }: Reading): () => void {
  const binding = port.port;
  if (binding === undefined) {
    setImmediate(gone, 'closed');
    return () => {};
  }
  const buffer = Buffer.alloc(READ_LIMIT);
  let isReading = true;
  let pause: NodeJS.Timeout | undefined;

  const failed = ({ message }: Error): void => {
    if (isReading) gone(`hung up (${message})`);
  };
  const read = (): void => void binding.read(buffer, 0, READ_LIMIT).then(taken, failed);
  const taken = ({ bytesRead }: { readonly bytesRead: number }): void => {
    if (!isReading) return;
    if (bytesRead > 0) heard(copyOf(buffer, 0, bytesRead));
    if (!isReading) return;
    if (bytesRead > 0) read();
    else pause = setTimeout(read, EMPTY_PAUSE);
  };
  const look = setInterval(() => void binding.getBaudRate().catch(failed), LOOK_INTERVAL).unref();

  read();
  return () => {
    isReading = false;
    clearTimeout(pause);
    clearInterval(look);
  };
}

/** Writes with the binding's write, one call at a time: two concurrent writes may overtake each other. */
export function startBindingWriter(port: SerialPort, gone: (reason: string) => void): PortWriter {
  let queue: Uint8Array = NO_BYTES;
  let underWay = 0;
  let isWriting = true;

  const pending = (): number => underWay + queue.length;
  const send = (): string | undefined => {
    const binding = port.port;
    if (binding === undefined) return 'closed';
    const bytes = Buffer.from(queue);
    queue = NO_BYTES;
    underWay = bytes.length;
    binding.write(bytes).then(sent, ({ message }: Error) => {
      if (isWriting) gone(message);
    });
    return undefined;
  };
  const sent = (): void => {
    underWay = 0;
    const problem = isWriting && queue.length > 0 ? send() : undefined;
    if (problem !== undefined) gone(problem);
  };
  return {
    write(bytes) {
      queue = queue.length === 0 ? bytes : Buffer.concat([queue, bytes]);
      const problem = underWay === 0 ? send() : overfull(pending());
      if (problem !== undefined) gone(problem);
      return problem;
    },
    pending,
    stop() {
      isWriting = false;
    },
  };
}

/** What a reader needs from a port. */
interface Reading {
  readonly port: SerialPort;
  /** Receives the bytes of one read(2): at least one, in an array of their own. */
  heard(chunk: Uint8Array): void;
  /** Returns why the port is gone, as far as the kernel shows it now; undefined while the port exists. */
  hangUp(): string | undefined;
  gone(reason: string): void;
}

/** Maximum bytes per read. A terminal's buffer holds no more (N_TTY_BUF_SIZE). */
const READ_LIMIT = 4096;

/**
 * Waits for bytes with serialport's own poller, and reads them in the event loop. serialport's stream would
 * read in the thread pool, and then read again to find that nothing is left. The poller reports again while
 * bytes remain, so one read at a time loses none and gives others their turn.
 * @returns a function that stops reading
 */
export function startReader({ port, heard, hangUp, gone }: Reading): () => void {
  const binding = port.port;
  if (binding === undefined || !('poller' in binding)) {
    setImmediate(gone, 'closed');
    return () => {};
  }
  const { poller } = binding;
  const buffer = new Uint8Array(READ_LIMIT);
  let isReading = true;

  const onReadable = (error: (Error & { readonly canceled?: boolean }) | null): void => {
    // serialport cancels the wait when it closes the port itself.
    if (error?.canceled || binding.fd === null) return;
    const problem = error ? (hangUp() ?? `hung up (${error.message})`) : read(binding.fd);
    if (problem !== undefined) gone(problem);
    else if (isReading) poller.poll(READABLE);
  };
  const read = (fd: number): string | undefined => {
    let length: number;
    try {
      length = readSync(fd, buffer, 0, READ_LIMIT, null);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return code === 'EAGAIN' || code === 'EINTR' ? undefined : `hung up (${message})`;
    }
    // A terminal that was hung up returns no bytes forever; one that another program set to VMIN 0 does so
    // occasionally.
    if (length === 0) return hangUp();
    heard(copyOf(buffer, 0, length));
    return undefined;
  };

  poller.on('readable', onReadable);
  poller.poll(READABLE);
  return () => {
    isReading = false;
    poller.off('readable', onReadable);
  };
}

interface PortWriter {
  /**
   * Writes bytes.
   * @returns why the bytes are lost, if that is known immediately; `gone` has then been called too
   */
  write(bytes: Uint8Array): string | undefined;
  /** Returns the number of bytes that the driver has not accepted yet. */
  pending(): number;
  /** Drops the pending bytes. */
  stop(): void;
}

/** How long to wait before retrying bytes for which the driver had no room, in ms. */
const WRITE_RETRY = 2;
/** A driver that is this many bytes behind sends nothing at all: flow control, or a hung adapter. */
const WRITE_QUEUE_LIMIT = 65_536;

/** Returns why a port is given up when too many bytes are waiting; undefined while more may wait. */
function overfull(waiting: number): string | undefined {
  return waiting > WRITE_QUEUE_LIMIT ? `accepts no more bytes; ${waiting} are waiting` : undefined;
}

/**
 * Writes from this thread, with one write(2) for all bytes if the driver has room. Through the thread pool, a
 * round trip would take half as long again (0.28 instead of 0.18 ms, measured).
 *
 * serialport's own write is not used even for the remaining bytes. Its poller waits for readable or for
 * writable, whichever was requested last, so a pending write may wait until the next byte is received (seen
 * with bindings-cpp 13).
 */
export function startWriter(port: SerialPort, gone: (reason: string) => void): PortWriter {
  let queue: Uint8Array = NO_BYTES;
  let retry: NodeJS.Timeout | undefined;

  const offer = (): string | undefined => {
    const fd = port.port?.fd;
    if (fd === undefined || fd === null) return 'closed';
    try {
      const taken = writeSync(fd, queue, 0, queue.length, null);
      queue = taken === queue.length ? NO_BYTES : queue.subarray(taken);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN') return message;
    }
    return overfull(queue.length);
  };
  const flush = (): string | undefined => {
    retry = undefined;
    const problem = offer();
    if (problem !== undefined) gone(problem);
    else if (queue.length > 0) retry = setTimeout(flush, WRITE_RETRY);
    return problem;
  };
  return {
    write(bytes: Uint8Array): string | undefined {
      queue = queue.length === 0 ? bytes : Buffer.concat([queue, bytes]);
      return retry === undefined ? flush() : undefined;
    },
    pending: () => queue.length,
    stop: () => clearTimeout(retry),
  };
}
