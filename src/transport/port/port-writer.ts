import { writeSync } from 'node:fs';
import type { SerialPort } from 'serialport';

export interface PortWriter {
  write(bytes: Uint8Array): void;
  /** Number of bytes that the driver has not taken yet. */
  pending(): number;
  /** Gives up what is pending. */
  stop(): void;
}

/** How soon bytes are offered again that the driver had no room for, in ms. */
const WRITE_RETRY = 2;
/** A driver that is so many bytes behind sends nothing at all: flow control, or an adapter that hangs. */
const WRITE_QUEUE_LIMIT = 65_536;

/**
 * Writes from this thread, one write(2) for all bytes where the driver has room: on its way through the thread pool
 * a reply would be later by half (0.28 against 0.18 ms round trip, measured).
 * serialport's own write is not even used for what is left over: its poller waits for readable or for writable,
 * whichever was asked for last, so a write that has to wait may wait until the next byte is received (seen with
 * bindings-cpp 13).
 */
export function startWriter(port: SerialPort, gone: (reason: string) => void): PortWriter {
  let queue: Uint8Array = new Uint8Array(0);
  let retry: NodeJS.Timeout | undefined;

  const flush = (): void => {
    retry = undefined;
    const fd = port.port?.fd;
    if (fd === undefined || fd === null) return;
    try {
      queue = queue.subarray(writeSync(fd, queue));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN') {
        gone(message);
        return;
      }
    }
    if (queue.length > WRITE_QUEUE_LIMIT) gone(`takes no more bytes, ${queue.length} are waiting`);
    else if (queue.length > 0) retry = setTimeout(flush, WRITE_RETRY);
  };
  return {
    write(bytes: Uint8Array): void {
      queue = Buffer.concat([queue, bytes]);
      if (retry === undefined) flush();
    },
    pending: () => queue.length,
    stop: () => clearTimeout(retry),
  };
}
