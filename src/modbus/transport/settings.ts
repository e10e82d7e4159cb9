import type { CharacterSettings } from '../protocol/timing.js';

/*
 * The settings of a line, named as in the native file, checked and with defaults filled in. The configuration
 * adds which devices answer. Times are in ms.
 */

/** A serial line: a port, and how the line behaves on it. */
export interface SerialSettings extends PortSettings {
  readonly kind: 'serial';
  /** The name of the line. If `link` is absent, the link of a virtual line is named after it. */
  readonly name: string;
  readonly framing: 'rtu' | 'ascii';
  readonly mode: SerialMode;
  readonly timing: TimingSettings;
  readonly whenBusy: WhenBusy;
  readonly echo: EchoSetting;
  /** The link through which clients find a virtual line, and how the line paces bytes. */
  readonly link?: string;
  readonly pacing?: PacingSettings;
}

export interface PortSettings extends CharacterSettings {
  /** The path of the port, or `virtual` for a pseudo-terminal of our own. */
  readonly path: string;
  /** What switches the RS-485 driver; absent if the adapter does it by itself. */
  readonly rs485?: Rs485Settings;
  /** True if the port must mark characters that arrive damaged. If absent, it does so if it can. */
  readonly parityMarks?: boolean;
}

/**
 * What switches an RS-485 transceiver between sending and listening. `kernel`: the serial driver. `rts`: this
 * program, through the RTS line. Under load, `rts` is late by milliseconds, so it is the last resort.
 */
export interface Rs485Settings extends RtsSwitching {
  readonly mode: 'kernel' | 'rts';
  /** Keeps the receiver on while sending (kernel mode). If absent, either is fine: the line expects its own echo. */
  readonly receiveWhileSending?: boolean;
}

/** How RTS changes before and after sending. The kernel's mode accepts only whole milliseconds. */
export interface RtsSwitching {
  /**
   * The level of RTS while sending; while listening, RTS has the other level. With `rts`, this is the modem
   * signal: `high` is asserted, 0 V at a logic pin. With `kernel`, its meaning depends on the driver: the
   * voltage of the pin (PL011) or the signal (8250).
   */
  readonly rtsOnSend: 'high' | 'low';
  /** The time between switching to sending and the first start bit. */
  readonly delayBeforeSend: number;
  /** The time between the last stop bit and switching to listening. */
  readonly delayAfterSend: number;
}

/** The times of a line. Absent values are derived from the baud rate and the adapter. */
interface TimingSettings {
  readonly t35?: number;
  /** The wait before a reply: t3.5, t3.5 plus this many ms, or none. */
  readonly turnaround: number | 't3.5' | 'eager';
  /** The silence after which an incomplete frame is discarded. */
  readonly gap?: number;
}

/** `server` answers for its units. `monitor` only listens: it has no units and never sends a byte. */
type SerialMode = 'server' | 'monitor';

/** What to do with a request that arrives while an earlier one is unanswered. */
export type WhenBusy = 'queue' | 'drop' | 'replace';

/** Whether the adapter of a line receives what it sends. With `auto`, the line detects it. */
export type EchoSetting = 'auto' | 'yes' | 'no';

/** How a virtual line delivers bytes, to imitate a real adapter. */
export interface PacingSettings {
  /**
   * How bytes are grouped into chunks. 1, 8 or 16: like the FIFO of a UART, which delivers every n-th
   * character as it arrives, and the rest after 32 bit times of idle line. `usb`: like a USB adapter, which
   * delivers 62 bytes, or what it has when its latency timer expires.
   */
  readonly chunk: 1 | 8 | 16 | 'usb';
  /** The latency timer of `usb`, which runs from the first byte; 16 when absent (the default of FTDI). */
  readonly latency?: number;
}

/**
 * What happens to a connection beyond `maxClients`. `evict`: the longest-idle connection is closed instead.
 * `refuse`: the new one is closed. `ignore`: it stays open but gets no replies until another connection ends.
 */
export type WhenFull = 'evict' | 'refuse' | 'ignore';

/**
 * What happens to a request on a connection with unanswered requests. `serve`: it is answered after them.
 * `one`: it is dropped if it arrived in the same read as another. `drop`: it is dropped then, and also while
 * a reply is pending.
 */
type Pipelining = 'serve' | 'drop' | 'one';

export interface SocketSettings {
  readonly kind: 'tcp' | 'tls' | 'udp';
  readonly framing: 'socket' | 'rtu' | 'ascii';
  /**
   * An IP address or a host name; `::` means all addresses of both families. With `hosts`, this is the text
   * that listed those addresses.
   */
  readonly host: string;
  /** The addresses of a line that has several, each with its own socket; absent on a line with one address. */
  readonly hosts?: readonly string[];
  /** The port; 0 lets the system choose. Several addresses share one port. */
  readonly port: number;
  /** The maximum number of clients connected at the same time. */
  readonly maxClients: number;
  /** What happens to a connection beyond `maxClients`; `evict` when absent. */
  readonly whenFull?: WhenFull;
  /** What happens to further requests of a connection; `serve` when absent. */
  readonly pipelining?: Pipelining;
  /** How long a connection may go without a complete request before it is closed, in ms; absent on UDP lines. */
  readonly idleTimeout?: number;
  /** The files of a TLS line; absent on other lines. */
  readonly files?: TlsFiles;
}

/** The paths of PEM files. */
export interface TlsFiles {
  /** The certificate of the line, followed by any intermediate CA certificates. */
  readonly cert: string;
  /** Its private key, without a passphrase. */
  readonly key: string;
  /**
   * One or more CA certificates; a client needs a certificate signed by one of them. If absent, clients need
   * no certificate.
   */
  readonly ca?: string;
}
