import type { CharacterSettings } from '../protocol/timing.js';

/*
 * The settings of a line, in the terms of the native file, checked and with defaults filled in. The
 * configuration adds which devices answer. Times are in ms.
 */

/** A serial line: a port, and how the line behaves on it. */
export interface SerialSettings extends PortSettings {
  readonly kind: 'serial';
  /** Name of the line. The link of a virtual line is named after it where `link` is absent. */
  readonly name: string;
  readonly framing: 'rtu' | 'ascii';
  readonly mode: SerialMode;
  readonly timing: TimingSettings;
  readonly whenBusy: WhenBusy;
  readonly echo: EchoSetting;
  /** Virtual line only: where the client's path is linked, and how bytes are paced. */
  readonly link?: string;
  readonly pacing?: PacingSettings;
}

/** A serial port with its settings. */
export interface PortSettings extends CharacterSettings {
  /** Path of the port, or `virtual` for a pseudo-terminal of our own. */
  readonly path: string;
  /** Who switches the RS-485 driver; absent where the adapter does it by itself. */
  readonly rs485?: Rs485Settings;
  /** Whether the port marks characters that arrive damaged. When absent, it does so if it can. */
  readonly parityMarks?: boolean;
}

/**
 * Who switches an RS-485 transceiver between sending and listening. `kernel`: the serial driver. `rts`: this
 * program, through the RTS line. That is late by milliseconds under load, so it is the last resort.
 */
export interface Rs485Settings extends RtsSwitching {
  readonly mode: 'kernel' | 'rts';
  /**
   * Keep the receiver on while sending (kernel mode). When absent, either is fine: the line expects its own
   * echo.
   */
  readonly receiveWhileSending?: boolean;
}

/** How RTS moves around what is sent. The kernel's mode takes whole milliseconds only. */
export interface RtsSwitching {
  /**
   * Level of RTS while sending; while listening, RTS has the other level. With `rts`, this is the modem
   * signal: `high` is asserted, 0 V at a logic pin. With `kernel`, the driver decides what it means: the
   * pin's voltage (PL011) or the signal (8250).
   */
  readonly rtsOnSend: 'high' | 'low';
  /** From switching to sending until the first start bit. */
  readonly delayBeforeSend: number;
  /** From the last stop bit until switching to listening. */
  readonly delayAfterSend: number;
}

/** Absent values follow from the baud rate and the adapter. */
interface TimingSettings {
  readonly t35?: number;
  /** Wait before a reply: t3.5, t3.5 plus this many ms, or none. */
  readonly turnaround: number | 't3.5' | 'eager';
  /** Silence after which an incomplete frame is thrown away. */
  readonly gap?: number;
}

/** `server` answers for its units. `monitor` only listens: it has no units and never sends a byte. */
type SerialMode = 'server' | 'monitor';

/** What to do with a request that comes while an earlier one is still to be answered. */
export type WhenBusy = 'queue' | 'drop' | 'replace';

/** Whether the adapter of a line hears what it sends. With `auto`, the line finds out. */
export type EchoSetting = 'auto' | 'yes' | 'no';

/** How a virtual line hands over bytes, as a real adapter would. */
export interface PacingSettings {
  /**
   * 1, 8 or 16: a UART's FIFO hands over every n-th character as it arrives, and the rest after 32 bit times
   * of idle line. `usb`: a USB adapter collects and hands over 62 bytes, or what it has when its latency
   * timer ends.
   */
  readonly chunk: 1 | 8 | 16 | 'usb';
  /** Latency timer of `usb`, running from the first byte; 16 when absent (the default of FTDI). */
  readonly latency?: number;
}

/**
 * What becomes of a connection beyond `maxClients`. `evict`: the oldest idle one makes room. `refuse`: it is
 * closed. `ignore`: it is open, and nothing is answered until another one ends.
 */
export type WhenFull = 'evict' | 'refuse' | 'ignore';

/**
 * What becomes of a request on a connection that has others before it. `serve`: it is answered after them.
 * `one`: it is lost if it came in one read with another. `drop`: then too, and while a reply is pending.
 */
type Pipelining = 'serve' | 'drop' | 'one';

/** A listening socket. */
export interface SocketSettings {
  readonly kind: 'tcp' | 'tls' | 'udp';
  readonly framing: 'socket' | 'rtu' | 'ascii';
  /**
   * An IP address or a name; `::` is all addresses of both families. With `hosts`, those addresses as they
   * were written.
   */
  readonly host: string;
  /** The addresses of a line that has several, each with a socket of its own; absent on a line with one. */
  readonly hosts?: readonly string[];
  /** 0 lets the system choose; several addresses have the same one. */
  readonly port: number;
  /** Clients at one time. */
  readonly maxClients: number;
  /** `evict` when absent. */
  readonly whenFull?: WhenFull;
  /** `serve` when absent. */
  readonly pipelining?: Pipelining;
  /** A connection without a complete request for this long is closed; absent on UDP lines. */
  readonly idleTimeout?: number;
  /** TLS only. */
  readonly files?: TlsFiles;
}

/** Paths of PEM files. */
export interface TlsFiles {
  /** The certificate of the line, followed by those of intermediate CAs. */
  readonly cert: string;
  /** Its private key, without a passphrase. */
  readonly key: string;
  /**
   * One or more CA certificates; a client needs a certificate signed by one of them. Without it clients need
   * none.
   */
  readonly ca?: string;
}
