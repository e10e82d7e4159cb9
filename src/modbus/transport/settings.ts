import type { CharacterSettings } from '../protocol/timing.js';

/*
 * The settings of a line, in the terms of the native file, checked and with defaults filled in. The
 * configuration adds which devices answer. Times are in ms.
 */

/** A serial line: a port, and how the line behaves on it. */
export interface SerialSettings extends PortSettings {
  readonly kind: 'serial';
  /** The name of the line. The link of a virtual line is named after it where `link` is absent. */
  readonly name: string;
  readonly framing: 'rtu' | 'ascii';
  readonly mode: SerialMode;
  readonly timing: TimingSettings;
  readonly whenBusy: WhenBusy;
  readonly echo: EchoSetting;
  /** The link of a virtual line to the client's path, and how the line paces bytes. */
  readonly link?: string;
  readonly pacing?: PacingSettings;
}

export interface PortSettings extends CharacterSettings {
  /** The path of the port, or `virtual` for a pseudo-terminal of our own. */
  readonly path: string;
  /** Who switches the RS-485 driver; absent where the adapter does it by itself. */
  readonly rs485?: Rs485Settings;
  /** True when the port marks characters that arrive damaged. When absent, the port does so if it can. */
  readonly parityMarks?: boolean;
}

/**
 * Who switches an RS-485 transceiver between sending and listening. `kernel`: the serial driver. `rts`: this
 * program, through the RTS line. That is late by milliseconds under load, so it is the last resort.
 */
export interface Rs485Settings extends RtsSwitching {
  readonly mode: 'kernel' | 'rts';
  /**
   * Keeps the receiver on while sending (kernel mode). When absent, either is fine: the line expects its own
   * echo.
   */
  readonly receiveWhileSending?: boolean;
}

/** How RTS moves before and after sending. The kernel's mode takes whole milliseconds only. */
export interface RtsSwitching {
  /**
   * The level of RTS while sending; while listening, RTS has the other level. With `rts`, this is the modem
   * signal: `high` is asserted, 0 V at a logic pin. With `kernel`, the driver decides what it means: the
   * pin's voltage (PL011) or the signal (8250).
   */
  readonly rtsOnSend: 'high' | 'low';
  /** The time from switching to sending until the first start bit. */
  readonly delayBeforeSend: number;
  /** The time from the last stop bit until switching to listening. */
  readonly delayAfterSend: number;
}

/** The times of a line. Absent values follow from the baud rate and the adapter. */
interface TimingSettings {
  readonly t35?: number;
  /** The wait before a reply: t3.5, t3.5 plus this many ms, or none. */
  readonly turnaround: number | 't3.5' | 'eager';
  /** The silence after which an incomplete frame is thrown away. */
  readonly gap?: number;
}

/** `server` answers for its units. `monitor` only listens: it has no units and never sends a byte. */
type SerialMode = 'server' | 'monitor';

/** What to do with a request that comes while an earlier request is still to be answered. */
export type WhenBusy = 'queue' | 'drop' | 'replace';

/** Whether the adapter of a line hears what it sends. With `auto`, the line finds out. */
export type EchoSetting = 'auto' | 'yes' | 'no';

/** How a virtual line hands over bytes, as a real adapter would. */
export interface PacingSettings {
  /**
   * How bytes are cut into chunks. 1, 8 or 16: a UART's FIFO hands over every n-th character as it arrives,
   * and the rest after 32 bit times of idle line. `usb`: a USB adapter collects and hands over 62 bytes, or
   * what it has when its latency timer ends.
   */
  readonly chunk: 1 | 8 | 16 | 'usb';
  /** The latency timer of `usb`, which runs from the first byte; 16 when absent (the default of FTDI). */
  readonly latency?: number;
}

/**
 * What happens to a connection beyond `maxClients`. `evict`: the oldest idle connection makes room. `refuse`:
 * the new one is closed. `ignore`: it stays open, and is not answered until another connection ends.
 */
export type WhenFull = 'evict' | 'refuse' | 'ignore';

/**
 * What happens to a request on a connection that has earlier requests to answer. `serve`: it is answered
 * after them. `one`: it is lost if it came in one read with another. `drop`: it is lost then, and while a
 * reply is pending.
 */
type Pipelining = 'serve' | 'drop' | 'one';

export interface SocketSettings {
  readonly kind: 'tcp' | 'tls' | 'udp';
  readonly framing: 'socket' | 'rtu' | 'ascii';
  /**
   * An IP address or a name; `::` is all addresses of both families. With `hosts`, this is how those
   * addresses were written.
   */
  readonly host: string;
  /**
   * The addresses of a line that has several, each with a socket of its own; absent on a line with one
   * address.
   */
  readonly hosts?: readonly string[];
  /** The port; 0 lets the system choose. Several addresses have the same port. */
  readonly port: number;
  /** How many clients may be connected at one time. */
  readonly maxClients: number;
  /** What happens to a connection beyond `maxClients`; `evict` when absent. */
  readonly whenFull?: WhenFull;
  /** What happens to further requests of a connection; `serve` when absent. */
  readonly pipelining?: Pipelining;
  /** A connection without a complete request for this long is closed, in ms; absent on UDP lines. */
  readonly idleTimeout?: number;
  /** The files of a TLS line; absent on other lines. */
  readonly files?: TlsFiles;
}

/** The paths of PEM files. */
export interface TlsFiles {
  /** The certificate of the line, followed by those of intermediate CAs. */
  readonly cert: string;
  /** Its private key, without a passphrase. */
  readonly key: string;
  /**
   * One or more CA certificates; a client needs a certificate signed by one of them. When absent, clients
   * need no certificate.
   */
  readonly ca?: string;
}
