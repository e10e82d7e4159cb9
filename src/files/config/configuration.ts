import type { DeviceLife } from '../../device/device.js';
import type { FaultRule } from '../../device/faults/rule.js';
import type { FileDefinition } from '../../device/files.js';
import type { IdentityName } from '../../device/identification.js';
import type { Manners } from '../../device/manners.js';
import type { RegisterLayout } from '../../device/registers/layout.js';
import type { ServerId } from '../../device/server.js';
import type { TableName } from '../../device/tables.js';
import type {
  PortSettings,
  SerialSettings,
  SocketSettings,
  TlsFiles,
} from '../../modbus/transport/settings.js';

/** What a simulator is built from, whatever kind of file it came from. The data is plain and already checked. */
export interface Configuration {
  readonly devices: readonly DeviceDefinition[];
  readonly lines: readonly LineDefinition[];
  readonly faults: readonly FaultRule[];
  readonly api: ApiDefinition;
  /** What changes at run time is still there after a restart. */
  readonly keepsState?: true;
  /** The broker that the simulator is on; absent where it is on none. */
  readonly mqtt?: MqttDefinition;
  /** How much of the traffic is kept; the usual limits when absent. */
  readonly traffic?: TrafficDefinition;
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
  readonly manners?: Manners;
}

export interface DeviceDefinition {
  readonly name: string;
  /** The device that it is a copy of, with the same tables; absent for a device of its own. */
  readonly copyOf?: string;
  /** The entry of the native file, as it was written; absent for a device of a pymodbus file. */
  readonly source?: DeviceSource;
  readonly identity: Identity;
  readonly extras: DeviceExtras;
  readonly tables: Readonly<Record<TableName, WindowDefinition>>;
  /** The layout that holds all tables, where registers are numbered through (pymodbus files). */
  readonly cells?: RegisterLayout;
  /** Names, signals and the clock; absent where nothing moves. */
  readonly life?: DeviceLife;
  /** Absent where the registers answer. */
  readonly real?: RealDefinition;
}

/** The real device that answers in place of a simulated one. Times are in ms. */
export interface RealDefinition {
  readonly target: RealTarget;
  /** Of the real device; undefined passes on what the client has asked. */
  readonly unit?: number;
  /** How long a reply may take to begin and end. */
  readonly timeout: number;
  /** Silence on the real line before each request to the device, on top of t3.5. */
  readonly pause: number;
  /** Passes every function on, not only those that read. */
  readonly writes: boolean;
  readonly whenSilent: 'silence' | 'exception';
  /** The device that answers while the real one does not, and whose registers keep what it said last. */
  readonly fallback?: string;
  /** Keeps the values that were read and written in the registers here, or in those of the fallback. */
  readonly shadow: boolean;
}

/** Where real devices are. */
export type RealTarget =
  | ({ readonly kind: 'serial'; readonly framing: 'rtu' | 'ascii' } & PortSettings)
  | {
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      readonly framing: 'socket' | 'rtu' | 'ascii';
    };

/** The entry of a device in a native file: checked, but otherwise as it was written. */
export type DeviceSource = Readonly<Record<string, unknown>>;

/** What a device has besides its name and identity. */
export type DeviceRegisters = Pick<DeviceDefinition, 'tables' | 'cells'>;

/** One table: `size` cells from `base` of a layout. Tables that name the same layout object share its registers. */
export interface WindowDefinition {
  readonly layout: RegisterLayout;
  readonly base: number;
  readonly size: number;
  readonly bitsPerCell: 1 | 16;
  readonly wholeValues: boolean;
  readonly countsAsPymodbus: boolean;
}

export type LineDefinition = SerialLineDefinition | SocketLineDefinition;

/** Name of the device that answers for a unit identifier; `*` for every one that is not listed. */
export type UnitNames = ReadonlyMap<number | '*', string>;

/** What a line has whatever carries it. */
interface ServedLine {
  readonly units: UnitNames;
  /** A line with `waiting` that can't be opened at the start is waited for. Without, the start has failed. */
  readonly start?: 'waiting';
  /** What the line sends though nobody asked; absent where that is nothing. */
  readonly unasked?: readonly UnaskedDefinition[];
}

export interface SerialLineDefinition extends SerialSettings, ServedLine {}

export interface SocketLineDefinition extends SocketSettings, ServedLine {
  readonly name: string;
  /** The answer to a request for a missing unit: exception 11, or none. */
  readonly missingUnit: 'exception' | 'silence';
  /** Of a line with several addresses: the device among its units of which each address has a copy of its own. */
  readonly each?: string;
}

/** Bytes or a valid frame that a line sends though nobody asked: before each reply, or every so often. */
export interface UnaskedDefinition {
  /** Sent as they are; undefined where there is a frame. */
  readonly bytes?: Uint8Array;
  /** Sent in the framing of the line, with a right check value; its transaction identifier is 0. */
  readonly frame?: { readonly unit: number; readonly pdu: Uint8Array };
  readonly before?: 'reply';
  /** Time between two of them in ms; undefined where they come before replies. */
  readonly every?: number;
  /** By how much that time may be shorter or longer, in ms. */
  readonly jitter?: number;
}

export interface TrafficDefinition {
  /** The most events; 0 keeps none. */
  readonly events: number;
  /** The most bytes of memory. */
  readonly bytes: number;
  /** Where traffic is written as it happens; nowhere when absent. */
  readonly file?: TrafficFileDefinition;
}

/** Files that traffic is written to, one after the other. */
export interface TrafficFileDefinition {
  /** An absolute path. */
  readonly directory: string;
  readonly format: 'ndjson' | 'pcapng';
  /** A new file begins before one has more bytes than this. */
  readonly size: number;
  /** The oldest file goes before there are more than so many. */
  readonly files: number;
}

/** What clients of a broker may ask for: nothing, what changes nothing, or everything. */
export type MqttAuthority = 'none' | 'read' | 'all';

/** A broker, and what is told to it. Times are in ms. */
export interface MqttDefinition {
  /** `mqtt:`, `mqtts:`, `ws:` or `wss:`, without a user. */
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  /** Paths of PEM files. */
  readonly files?: Partial<TlsFiles>;
  /** The client identifier; one is made of the topic when absent. */
  readonly client?: string;
  /** What all topics of this bench begin with. */
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
  /** What fleets choose benches by. */
  readonly labels: Readonly<Record<string, string>>;
  readonly commands: MqttAuthority;
  /** Whether values are published, and the shortest time between two messages of one value. */
  readonly publish: { readonly values: boolean; readonly every: number };
  /** Time between two events of the traffic that are shown as samples; none when absent. */
  readonly sample?: number;
  readonly homeAssistant: boolean;
  /** The edge node that the bench is in Sparkplug B; none when absent. */
  readonly sparkplug?: SparkplugDefinition;
}

/** What the topics of an edge node of Sparkplug B have in them. */
export interface SparkplugDefinition {
  readonly group: string;
  readonly node: string;
}

export interface ApiDefinition {
  readonly host: string;
  readonly port: number;
  /** The token that lets clients do everything. */
  readonly token?: string;
  /** Tokens that let clients read. */
  readonly readTokens?: readonly string[];
  /** Origins of other sites whose pages may use REST. */
  readonly origins?: readonly string[];
  /** Paths of PEM files, for HTTPS; plain HTTP when absent. */
  readonly files?: Pick<TlsFiles, 'cert' | 'key'>;
  /** The most connections at a time; 64 when absent. */
  readonly maxConnections?: number;
  /** Hosts of real devices that clients of REST may name; none when absent. */
  readonly mayReach?: readonly string[];
}
