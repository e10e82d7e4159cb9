import { type Libc, TIOCGICOUNT } from './libc.js';

/** What the driver of a UART has counted since the port exists. */
export interface ErrorCounts {
  /** Characters without a stop bit. */
  readonly framing: number;
  /** Characters that the UART lost because nobody fetched those before them in time. */
  readonly overrun: number;
  readonly parity: number;
  readonly break: number;
  /** Times that characters were lost because the kernel's buffer was full. */
  readonly bufferOverrun: number;
}

/** struct serial_icounter_struct of linux/serial.h: twenty ints, after cts, dsr, rng, dcd, rx and tx these. */
const BYTES = 80;
const FRAME = 24;
const OVERRUN = 28;
const PARITY = 32;
const BRK = 36;
const BUF_OVERRUN = 40;

export function parseErrorCounts(struct: Uint8Array): ErrorCounts {
  const view = new DataView(struct.buffer, struct.byteOffset, struct.byteLength);
  return {
    framing: view.getUint32(FRAME, true),
    overrun: view.getUint32(OVERRUN, true),
    parity: view.getUint32(PARITY, true),
    break: view.getUint32(BRK, true),
    bufferOverrun: view.getUint32(BUF_OVERRUN, true),
  };
}

/** Asks the driver; undefined where it does not count (pseudo-terminals, some USB adapters). */
export function readErrorCounts(libc: Libc, fd: number): ErrorCounts | undefined {
  const struct = new Uint8Array(BYTES);
  return libc.ioctl(fd, TIOCGICOUNT, struct) < 0 ? undefined : parseErrorCounts(struct);
}
