import { writeSync } from 'node:fs';
import type { SerialPort } from 'serialport';

export interface PortWriter {
  /** @returns why the bytes are lost, as far as that is known at once; then `gone` has been called, too. */
  write(bytes: Uint8Array): string | undefined;
  /** Number of bytes that the driver has not taken yet. */
  pending(): number;
  /** Gives up what is pending. */
  stop(): void;
}

/** How long to wait before offering bytes again for which the driver had no room, in ms. */
const WRITE_RETRY = 2;
/** A driver that is this many bytes behind sends nothing at all: flow control, or an adapter that hangs. */
const WRITE_QUEUE_LIMIT = 65_536;

const NOTHING = new Uint8Array(0);

/**
 * Writes from this thread, with one write(2) for all bytes if the driver has room. Through the thread pool, a reply
 * would be later by half (0.28 against 0.18 ms round trip, measured).
 *
 * serialport's own write is not used even for the remaining bytes. Its poller waits for readable or for writable,
 * whichever was asked for last, so a waiting write may wait until the next byte is received (seen with bindings-cpp
 * 13).
 */
export function startWriter(port: SerialPort, gone: (reason: string) => void): PortWriter {
  let queue: Uint8Array = NOTHING;
  let retry: NodeJS.Timeout | undefined;

  const offer = (): string | undefined => {
    const fd = port.port?.fd;
    if (fd === undefined || fd === null) return 'closed';
    try {
      const taken = writeSync(fd, queue, 0, queue.length, null);
      queue = taken === queue.length ? NOTHING : queue.subarray(taken);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN') return message;
    }
    return queue.length > WRITE_QUEUE_LIMIT ? `takes no more bytes, ${queue.length} are waiting` : undefined;
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
