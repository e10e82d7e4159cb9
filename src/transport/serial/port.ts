import type { ErrorCounts } from './error-counts.js';

/** A byte stream with the manners of a serial port: what a serial line needs of a real port or of the virtual line. */
export interface BytePort {
  /** What a person calls it: the configured path, or the client path of a virtual line. */
  readonly path: string;
  /**
   * Writes all bytes in one go (one write(2) where possible). Returns the reason when they are lost, as far as that is
   * known at once; an error of the port itself surfaces through `onClose`.
   */
  write(bytes: Uint8Array): string | undefined;
  /**
   * Holds the line in the break state for `ms` milliseconds; resolves with the reason when that did not work.
   * Absent on ports that have no break (a pseudo-terminal).
   */
  sendBreak?: (ms: number) => Promise<string | undefined>;
  /** Errors that the driver has counted; undefined, or absent, where there is no such count. */
  errorCounts?: () => ErrorCounts | undefined;
  /** Closes the port; resolves when it is closed. Calling twice is fine. `onClose` is not called for it. */
  close(): Promise<void>;
}

/** What a port tells its line. A listener never throws. */
export interface PortListener {
  /** Bytes as one read(2) delivered them. */
  onData(chunk: Uint8Array): void;
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
  | { readonly ok: false; readonly error: string };

/** Settings of a serial line as in the native configuration file. */
export interface SerialSettings {
  readonly path: string;
  /** Bits per second. */
  readonly baudRate: number;
  readonly dataBits: 7 | 8;
  readonly parity: 'none' | 'even' | 'odd';
  readonly stopBits: 1 | 2;
}
