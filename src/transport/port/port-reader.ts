import { readSync } from 'node:fs';
import type { SerialPort } from 'serialport';
import { copyOf } from '../../protocol/bytes.js';

/** What a reader needs of a port. */
export interface Reading {
  readonly port: SerialPort;
  /** What one read(2) delivered: at least one byte, in an array of its own. */
  heard(chunk: Uint8Array): void;
  /** Why the port is gone, as far as the kernel shows it now; undefined while it is there. */
  hangUp(): string | undefined;
  gone(reason: string): void;
}

/** A terminal's buffer holds no more (N_TTY_BUF_SIZE). */
const READ_LIMIT = 4096;

/** `EVENTS.UV_READABLE` of serialport's poller, which does not export it. */
const READABLE = 1;

/**
 * Waits for bytes with serialport's own poller, and reads them from the event loop. serialport's stream would read in
 * the thread pool, and once more to find that there is nothing more. The poller asks again and again as long as bytes
 * are there, so one read at a time loses none and leaves others their turn.
 * @returns a function that ends the reading
 */
export function startReader({ port, heard, hangUp, gone }: Reading): () => void {
  const binding = port.port;
  if (binding === undefined || !('poller' in binding)) {
    setImmediate(gone, 'can not be waited for: serialport has no poller');
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
    // A terminal that was hung up delivers nothing for ever; one that somebody set to VMIN 0 does so now and then.
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
