import type { Adapter } from './adapter.js';
import type { Pacing } from './pacing.js';
import type { ErrorCounts } from './uart.js';

/**
 * A byte stream that behaves like a serial port: what a serial line needs from a real port or from the
 * virtual line.
 */
export interface BytePort {
  /** The name to display: the configured path, or the client path of a virtual line. */
  readonly path: string;
  /**
   * Writes all bytes at once (one write(2) where possible). Returns the reason if they are lost and that is
   * known immediately; an error of the port itself is reported through `onClose`.
   */
  write(bytes: Uint8Array): string | undefined;
  /**
   * Holds the line in the break state for `ms` milliseconds. Resolves with the reason if that failed. Absent
   * on ports that have no break (a pseudo-terminal).
   */
  sendBreak?: (ms: number) => Promise<string | undefined>;
  /**
   * Reports whether written bytes are still being sent, as far as the driver knows; it may not know about
   * bytes in an adapter. Absent if the bytes may not have reached the driver yet.
   */
  isSending?: () => boolean;
  /** Returns the errors that the driver has counted. Undefined, or absent, if the driver does not count. */
  errorCounts?: () => ErrorCounts | undefined;
  /** The stable name of a virtual line, if it has one. */
  readonly link?: string;
  /** Changes the pacing of a virtual line without closing it. Bytes in flight at the old pace are delivered at once. */
  setPacing?(pacing: Pacing | undefined): void;
  /** Returns what is known about the open port, for display. */
  facts(): PortFacts;
  /** Closes the port; resolves when it is closed. Calling it twice is harmless. `onClose` is not called. */
  close(): Promise<void>;
}

/** What was found out about a port when it was opened. Nothing is kept from an earlier time. */
export interface PortFacts {
  readonly adapter: Adapter;
  /**
   * The settings as reported by the driver, '19200 8E1'; undefined if they can't be read back
   * (pseudo-terminal, no koffi).
   */
  readonly settings: string | undefined;
  /** True if the driver delivers bytes at once, as verified; undefined if the driver can't be asked. */
  readonly lowLatency: boolean | undefined;
  /** True if characters that arrive damaged are marked. */
  readonly parityMarks: boolean;
  /** What switches the RS-485 driver, as text for the user, including what was read back. */
  readonly direction: string;
}

/** Receives the reports of a port. A listener never throws. */
export interface PortListener {
  /**
   * Receives bytes as read(2) delivered them; if damaged bytes were removed, the pieces before and after.
   * Never empty.
   */
  onData(chunk: Uint8Array): void;
  /**
   * Reports that one or more characters arrived damaged (wrong parity, no stop bit, a break), between the
   * bytes before and after this call. They are passed on as the port read them, which may not be what was
   * sent.
   */
  onDamaged(characters: Uint8Array): void;
  /** Reports that the port is gone unexpectedly: unplugged, hung up, failed. Called at most once. */
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
   * `unfit` is true if the port that is present can't do what was configured, so retrying is pointless until
   * it is replaced.
   */
  | { readonly ok: false; readonly error: string; readonly unfit?: true };
