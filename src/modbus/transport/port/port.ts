import type { Adapter } from './adapter.js';
import type { Pacing } from './pacing.js';
import type { ErrorCounts } from './uart.js';

/**
 * A byte stream that behaves like a serial port: what a serial line needs from a real port or from the
 * virtual line.
 */
export interface BytePort {
  /** The name for people: the configured path, or the client path of a virtual line. */
  readonly path: string;
  /**
   * Writes all bytes in one go (one write(2) where possible). Returns the reason when they are lost, as far
   * as that is known at once; an error of the port itself surfaces through `onClose`.
   */
  write(bytes: Uint8Array): string | undefined;
  /**
   * Holds the line in the break state for `ms` milliseconds. Resolves with the reason when that did not work.
   * Absent on ports that have no break (a pseudo-terminal).
   */
  sendBreak?: (ms: number) => Promise<string | undefined>;
  /**
   * Tells whether written bytes are still being sent, as far as the driver knows; it may not know about bytes
   * that an adapter keeps. Absent where bytes may not have been handed to the driver yet.
   */
  isSending?: () => boolean;
  /**
   * Returns the errors that the driver has counted. Undefined, or absent, where the driver does not count.
   */
  errorCounts?: () => ErrorCounts | undefined;
  /** The stable name of a virtual line, if it has one. */
  readonly link?: string;
  /**
   * Changes the pacing of a virtual line without closing it. Bytes under way at the old pace are delivered at
   * once.
   */
  setPacing?(pacing: Pacing | undefined): void;
  /** Returns what is known about the open port, for people. */
  facts(): PortFacts;
  /** Closes the port, and resolves when it is closed. Calling twice is harmless. `onClose` is not called. */
  close(): Promise<void>;
}

/** What an opening found out about a port. Nothing is kept from an earlier opening. */
export interface PortFacts {
  readonly adapter: Adapter;
  /**
   * The settings as the driver has them, '19200 8E1'; undefined where they can't be read back
   * (pseudo-terminal, no koffi).
   */
  readonly settings: string | undefined;
  /**
   * True when the driver hands over bytes at once, as verified; undefined where the driver can't be asked.
   */
  readonly lowLatency: boolean | undefined;
  /** True when characters that arrive damaged are marked. */
  readonly parityMarks: boolean;
  /** Who switches the RS-485 driver, in words for people, including what was read back. */
  readonly direction: string;
}

/** Gets what a port reports. A listener never throws. */
export interface PortListener {
  /**
   * Gets bytes as one read(2) delivered them; where damaged bytes were taken out, the pieces before and
   * after. Never empty.
   */
  onData(chunk: Uint8Array): void;
  /**
   * Reports that one or more characters arrived damaged (wrong parity, no stop bit, a break), between the
   * bytes before and after this call. They are passed on as the port read them, which does not show what was
   * sent.
   */
  onDamaged(characters: Uint8Array): void;
  /** Reports that the port is gone without being asked: unplugged, hung up, failed. Called at most once. */
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
   * `unfit` is true when the port that is there can't do what was asked for, so trying again is in vain until
   * something else is there.
   */
  | { readonly ok: false; readonly error: string; readonly unfit?: true };
