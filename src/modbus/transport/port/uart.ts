import { getSystemErrorName } from 'node:util';
import {
  type Libc,
  TIOCGICOUNT,
  TIOCM_RTS,
  TIOCMBIC,
  TIOCMBIS,
  TIOCOUTQ,
  TIOCSER_TEMT,
  TIOCSERGETLSR,
} from './libc.js';

/**
 * How far a driver has got with the bytes written to it. 'handed over': its buffer is empty, but a FIFO
 * behind it may not be, and the driver does not report that.
 */
export type TransmitterState = 'sending' | 'handed over' | 'empty';

/** Asks the driver how far it has got. A driver that is gone sends nothing more, and counts as 'empty'. */
export function transmitterState(libc: Libc, fd: number): TransmitterState {
  const word = new Uint8Array(4);
  const view = new DataView(word.buffer);
  if (libc.ioctl(fd, TIOCOUTQ, word) < 0) return 'empty';
  if (view.getInt32(0, true) > 0) return 'sending';
  if (libc.ioctl(fd, TIOCSERGETLSR, word) < 0) return 'handed over';
  return view.getInt32(0, true) & TIOCSER_TEMT ? 'empty' : 'sending';
}

/**
 * Sets RTS before this call returns, and leaves the other modem lines as they are.
 * @returns the error; some ports, pseudo-terminals among them, have no modem lines
 */
export function setRts(libc: Libc, fd: number, level: 'high' | 'low'): string | undefined {
  const lines = new Uint8Array(4);
  new DataView(lines.buffer).setInt32(0, TIOCM_RTS, true);
  const result = libc.ioctl(fd, level === 'high' ? TIOCMBIS : TIOCMBIC, lines);
  return result < 0 ? `RTS can't be set ${level} (${getSystemErrorName(result)})` : undefined;
}

/** The errors that the driver of a UART has counted since the port appeared. */
export interface ErrorCounts {
  /** Characters without a stop bit. */
  readonly framing: number;
  /** Characters that the UART lost because earlier ones were not fetched in time. */
  readonly overrun: number;
  readonly parity: number;
  readonly break: number;
  /** How many times characters were lost because the kernel's buffer was full. */
  readonly bufferOverrun: number;
}

/**
 * Reads the counts from struct serial_icounter_struct (linux/serial.h), which has twenty ints: cts, dsr, rng,
 * dcd, rx and tx come first.
 */
export function parseErrorCounts(struct: Uint8Array): ErrorCounts {
  const view = new DataView(struct.buffer, struct.byteOffset, struct.byteLength);
  const count = (offset: number) => view.getUint32(offset, true);
  return {
    framing: count(24),
    overrun: count(28),
    parity: count(32),
    break: count(36),
    bufferOverrun: count(40),
  };
}

/** Asks the driver for its counts; undefined if it does not count (pseudo-terminals, some USB adapters). */
export function readErrorCounts(libc: Libc, fd: number): ErrorCounts | undefined {
  const struct = new Uint8Array(80);
  return libc.ioctl(fd, TIOCGICOUNT, struct) < 0 ? undefined : parseErrorCounts(struct);
}

/** Counts characters lost in the UART, or because the kernel's buffer was full, since this object was created. */
export class Overruns {
  readonly #errorCounts: (() => ErrorCounts | undefined) | undefined;
  /** How many lost characters were already reported, by the driver's count. */
  #reported: number;

  /** Starts counting. @param errorCounts the port's own; without it nothing is counted */
  constructor(errorCounts: (() => ErrorCounts | undefined) | undefined) {
    this.#errorCounts = errorCounts;
    this.#reported = this.#counted() ?? 0;
  }

  /** Returns how many characters were lost since the last call. */
  take(): number {
    const counted = this.#counted() ?? this.#reported;
    const lost = counted - this.#reported;
    this.#reported = counted;
    return lost;
  }

  #counted(): number | undefined {
    const counts = this.#errorCounts?.();
    return counts && counts.overrun + counts.bufferOverrun;
  }
}
