import type { FileDefinition } from '../device/files.js';
import type { IdentityName } from '../device/identification.js';
import type { ServerId } from '../device/server.js';
import type { TableName } from '../device/tables.js';
import type { FaultRule } from '../faults/rule.js';
import type { CharacterSettings } from '../protocol/timing.js';
import type { RegisterLayout } from '../registers/layout.js';

/** What a simulator is built from, whichever kind of file said it. Plain data, already checked. */
export interface Configuration {
  readonly devices: readonly DeviceDefinition[];
  readonly lines: readonly LineDefinition[];
  readonly faults: readonly FaultRule[];
  readonly api: ApiDefinition;
  /** Where relative paths of files begin. */
  readonly directory: string;
}

/** Objects of the device identification by name; those of the vendor's own by identifier. */
export type Identity = Readonly<Partial<Record<IdentityName, string>>> & {
  readonly extended?: ReadonlyMap<number, string>;
};

/** What a device of the native file may have besides registers; what is absent is as `Device` has it by default. */
export interface DeviceExtras {
  readonly files?: ReadonlyMap<number, FileDefinition>;
  readonly queues?: ReadonlyMap<number, readonly number[]>;
  readonly exceptionStatus?: readonly number[];
  readonly serverId?: ServerId;
}

export interface DeviceDefinition {
  readonly name: string;
  readonly identity: Identity;
  readonly extras: DeviceExtras;
  readonly tables: Readonly<Record<TableName, WindowDefinition>>;
  /** The layout that holds all tables, where registers are numbered through (pymodbus files). */
  readonly cells?: RegisterLayout;
}

/** What a device has besides its name and identity. */
export type DeviceRegisters = Pick<DeviceDefinition, 'tables' | 'cells'>;

/** One table: `size` cells from `base` of a layout. Tables that name the same layout object share its registers. */
export interface WindowDefinition {
  readonly layout: RegisterLayout;
  readonly base: number;
  readonly size: number;
  readonly bitsPerCell: 1 | 16;
  readonly wholeValues: boolean;
}

export type LineDefinition = SerialLineDefinition | SocketLineDefinition;

/** Name of the device that answers for a unit identifier; `*` for every one that is not listed. */
export type UnitNames = ReadonlyMap<number | '*', string>;

export interface SerialLineDefinition extends CharacterSettings {
  readonly kind: 'serial';
  readonly name: string;
  readonly framing: 'rtu' | 'ascii';
  /** Path of the port, or `virtual` for a pseudo-terminal of our own. */
  readonly path: string;
  /** Who switches the RS-485 driver; absent where the adapter does it by itself. */
  readonly rs485?: Rs485Definition;
  /** Whether the port marks characters that arrive damaged; where it can when absent. */
  readonly parityMarks?: boolean;
  readonly timing: TimingDefinition;
  /** What a request does that comes while an earlier one is still to be answered. */
  readonly whenBusy: 'queue' | 'drop' | 'replace';
  /** Virtual line only: where the client's path is linked, and how bytes are paced. */
  readonly link?: string;
  readonly pacing?: PacingDefinition;
  readonly units: UnitNames;
}

/** Direction control by the kernel, or by this program with RTS. */
export interface Rs485Definition {
  readonly mode: 'kernel' | 'rts';
  /** Level of RTS while sending. */
  readonly rtsOnSend: 'high' | 'low';
  /** RTS is switched so long before the first character and after the last one, in ms. */
  readonly delayBeforeSend: number;
  readonly delayAfterSend: number;
  /** The receiver stays on while sending (kernel mode). */
  readonly receiveWhileSending: boolean;
}

/** Times in ms; what is absent follows from the baud rate and the adapter. */
interface TimingDefinition {
  readonly t35?: number;
  /** Wait before a reply: t3.5, t3.5 and that many ms more, or none at all. */
  readonly turnaround: number | 't3.5' | 'eager';
  /** Silence after which an incomplete frame is thrown away. */
  readonly gap?: number;
}

interface PacingDefinition {
  /** Bytes that arrive at once: a FIFO's worth, or a USB packet's. */
  readonly chunk: 1 | 8 | 16 | 'usb';
  /** USB only: how long the adapter holds bytes back, in ms. */
  readonly latency?: number;
}

/** A listening socket. */
export interface SocketLineDefinition {
  readonly kind: 'tcp' | 'tls' | 'udp';
  readonly name: string;
  readonly framing: 'socket' | 'rtu' | 'ascii';
  readonly host: string;
  readonly port: number;
  /** Clients at one time. */
  readonly maxClients: number;
  /** A connection without a complete request for so long is closed, in ms; UDP has none. */
  readonly idleTimeout?: number;
  /** Paths of PEM files (TLS); with `ca` clients must have a certificate of it. */
  readonly files?: { readonly cert: string; readonly key: string; readonly ca?: string };
  readonly units: UnitNames;
  /** What a request for a unit that is not there gets: exception 11, or nothing. */
  readonly missingUnit: 'exception' | 'silence';
}

export interface ApiDefinition {
  readonly host: string;
  readonly port: number;
  readonly token?: string;
  /** How many connections it serves at a time; 64 without. */
  readonly maxConnections?: number;
}
