import type { SerialPort } from 'serialport';
import { copyOf } from '../../protocol/bytes.js';
import { overfull, type PortWriter, READ_LIMIT, type Reading } from './port-io.js';

/*
 * Reading and writing where serialport has no poller and no descriptor, as on Windows: by the read and write of its
 * binding, each of which takes a thread of its own until it is done.
 */

/**
 * How often to ask a port for its baud rate, in ms. A driver whose adapter was pulled refuses to answer; some never
 * end the read that is under way.
 */
const LOOK_INTERVAL = 500;
/** How long to wait after a read that ended without a byte, in ms. */
const EMPTY_PAUSE = 20;

/**
 * Reads bytes by the binding's read, which comes back with what has arrived as soon as there is a byte.
 * @returns a function that ends the reading
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

const NOTHING = new Uint8Array(0);

/** Writes by the binding's write, one at a time: two that are under way at once may overtake each other. */
export function startBindingWriter(port: SerialPort, gone: (reason: string) => void): PortWriter {
  let queue: Uint8Array = NOTHING;
  let underWay = 0;
  let isWriting = true;

  const pending = (): number => underWay + queue.length;
  const send = (): string | undefined => {
    const binding = port.port;
    if (binding === undefined) return 'closed';
    const bytes = Buffer.from(queue);
    queue = NOTHING;
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
