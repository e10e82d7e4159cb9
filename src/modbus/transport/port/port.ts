import type { Adapter } from './adapter.js';
import type { Pacing } from './pacing.js';
import type { ErrorCounts } from './uart.js';

/**
 * A byte stream with the manners of a serial port: what a serial line needs of a real port or of the virtual
 * line.
 */
export interface BytePort {
  /** What a person calls it: the configured path, or the client path of a virtual line. */
  readonly path: string;
  /**
   * Writes all bytes in one go (one write(2) where possible). Returns the reason when they are lost, as far
   * as that is known at once; an error of the port itself surfaces through `onClose`.
   */
  write(bytes: Uint8Array): string | undefined;
  /**
   * Holds the line in the break state for `ms` milliseconds; resolves with the reason when that did not work.
   * Absent on ports that have no break (a pseudo-terminal).
   */
  sendBreak?: (ms: number) => Promise<string | undefined>;
  /**
   * Whether written bytes are still being sent, as far as the driver knows. It may not know of bytes that an
   * adapter keeps. Absent where bytes may not have been handed to the driver yet.
   */
  isSending?: () => boolean;
  /** Errors that the driver has counted; undefined, or absent, where there is no such count. */
  errorCounts?: () => ErrorCounts | undefined;
  /** The stable name of a virtual line, if it has one. */
  readonly link?: string;
  /**
   * Virtual lines only: changes the pacing without closing; what is under way at the old pace is delivered at
   * once.
   */
  setPacing?(pacing: Pacing | undefined): void;
  /** What is known of the open port, for people. */
  facts(): PortFacts;
  /** Closes the port; resolves when it is closed. Calling twice is fine. `onClose` is not called for it. */
  close(): Promise<void>;
}

/** What an opening found out about a port. Nothing is kept from an earlier opening. */
export interface PortFacts {
  readonly adapter: Adapter;
  /**
   * As the driver has them, '19200 8E1'; undefined where they can't be read back (pseudo-terminal, no koffi).
   */
  readonly settings: string | undefined;
  /** Whether the driver hands over bytes at once, as verified; undefined where it can't be asked. */
  readonly lowLatency: boolean | undefined;
  /** Whether characters that arrive damaged are marked. */
  readonly parityMarks: boolean;
  /** Who switches the RS-485 driver, in words for people, with what was read back. */
  readonly direction: string;
}

/** What a port reports to its line. A listener never throws. */
export interface PortListener {
  /**
   * Bytes as one read(2) delivered them; where damaged ones were taken out, the pieces before and after.
   * Never empty.
   */
  onData(chunk: Uint8Array): void;
  /**
   * One or more characters arrived damaged (wrong parity, no stop bit, a break), between the bytes before and
   * after this call. They are passed on as the port read them, which does not show what was sent.
   */
  onDamaged(characters: Uint8Array): void;
  /** The port is gone without being asked: unplugged, hung up, failed. At most once. */
  onClose(reason: string): void;
}

/**
 * The outcome of opening a port.
 * `notes` are sentences for the log, for example 'settings not read back: koffi did not load (…)'.
 * `error` is one sentence that names the port, what is wrong, and what was expected or what to do.
 */
export type OpenResult<Port extends BytePort = BytePort> =
  | { readonly ok: true; readonly port: Port; readonly notes: readonly string[] }
  /**
   * `unfit`: what is there can't do what was asked for, so trying again is in vain until something else is
   * there.
   */
  | { readonly ok: false; readonly error: string; readonly unfit?: true };
