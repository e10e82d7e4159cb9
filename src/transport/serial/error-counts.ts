import { type Libc, TIOCGICOUNT } from './libc.js';

/** What the driver of a UART has counted since the port exists. */
export interface ErrorCounts {
  readonly framing: number;
  readonly overrun: number;
  readonly parity: number;
}

/** struct serial_icounter_struct of linux/serial.h: twenty ints. */
const BYTES = 80;
const FRAME = 24;
const OVERRUN = 28;
const PARITY = 32;

export function parseErrorCounts(struct: Uint8Array): ErrorCounts {
  const view = new DataView(struct.buffer, struct.byteOffset, struct.byteLength);
  return {
    framing: view.getUint32(FRAME, true),
    overrun: view.getUint32(OVERRUN, true),
    parity: view.getUint32(PARITY, true),
  };
}

/** Asks the driver; undefined where it does not count (pseudo-terminals, some USB adapters). */
export function readErrorCounts(libc: Libc, fd: number): ErrorCounts | undefined {
  const struct = new Uint8Array(BYTES);
  return libc.ioctl(fd, TIOCGICOUNT, struct) < 0 ? undefined : parseErrorCounts(struct);
}
