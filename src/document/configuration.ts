import type { DeviceLife } from '../device/device.js';
import { abilities, type FaultLine } from '../device/faults/kind.js';
import type { FaultRule } from '../device/faults/rule.js';
import type { FileDefinition } from '../device/files.js';
import type { ServerId } from '../device/functions.js';
import type { IdentityName } from '../device/identification.js';
import type { Manners } from '../device/manners.js';
import type { RegisterLayout } from '../device/registers/layout.js';
import type { TableName } from '../device/tables.js';
import type { PortSettings, SerialSettings, SocketSettings, TlsFiles } from '../modbus/transport/settings.js';

/** What a simulator is built from, whatever kind of file it was read from. The data is plain and already checked. */
export interface Configuration {
  readonly devices: readonly DeviceDefinition[];
  readonly lines: readonly LineDefinition[];
  readonly faults: readonly FaultRule[];
  readonly api: ApiDefinition;
  /** Keeps changes made at run time across a restart. */
  readonly keepsState?: true;
  /** The MQTT broker that the simulator connects to; without it, the simulator uses no broker. */
  readonly mqtt?: MqttDefinition;
  /** How much traffic is kept; if absent, the usual limits apply. */
  readonly traffic?: TrafficDefinition;
  /** The base directory of relative paths. */
  readonly directory: string;
}

/** Objects of the device identification by name; the vendor's private objects by identifier. */
export type Identity = Readonly<Partial<Record<IdentityName, string>>> & {
  readonly extended?: ReadonlyMap<number, string>;
};

/** What a device of the native file may have besides registers. `Device` has defaults for whatever is absent. */
export interface DeviceExtras {
  readonly files?: ReadonlyMap<number, FileDefinition>;
  readonly queues?: ReadonlyMap<number, readonly number[]>;
  readonly exceptionStatus?: readonly number[];
  readonly serverId?: ServerId;
  readonly manners?: Manners;
}

export interface DeviceDefinition {
  readonly name: string;
  /** The device that this one copies, with the same tables; absent for other devices. */
  readonly copyOf?: string;
  /** The entry in the native file as written; absent for a device from a pymodbus file. */
  readonly source?: DeviceSource;
  readonly identity: Identity;
  readonly extras: DeviceExtras;
  readonly tables: Readonly<Record<TableName, WindowDefinition>>;
  /** The layout with all tables, if one list holds the registers of all of them (pymodbus files). */
  readonly cells?: RegisterLayout;
  /** Names, signals and the clock; absent if the device has none of these. */
  readonly life?: DeviceLife;
  /** The real device that answers instead of the registers; absent if the registers answer. */
  readonly real?: RealDefinition;
}

/** The real device that answers instead of a simulated one. Times are in ms. */
export interface RealDefinition {
  readonly target: RealTarget;
  /** The unit identifier of the real device; without it, requests keep the unit identifier of the client. */
  readonly unit?: number;
  /** How long a reply may take to begin, and to end, in ms. */
  readonly timeout: number;
  /** Silence on the real line before each request to the device, in ms, in addition to t3.5. */
  readonly pause: number;
  /** Passes on every function, not only those that read. */
  readonly writes: boolean;
  readonly whenSilent: 'silence' | 'exception';
  /**
   * The device that answers while the real device is silent. Its registers keep the last values of the real
   * device.
   */
  readonly fallback?: string;
  /** Copies the values that clients read and write to the registers of this device, or of the fallback. */
  readonly shadow: boolean;
}

/** How a real device is reached. */
export type RealTarget =
  | ({ readonly kind: 'serial'; readonly framing: 'rtu' | 'ascii' } & PortSettings)
  | {
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      readonly framing: 'socket' | 'rtu' | 'ascii';
    };

/** The entry of a device in a native file: checked, but otherwise as written. */
export type DeviceSource = Readonly<Record<string, unknown>>;

/** The registers of a device, without its name and identity. */
export type DeviceRegisters = Pick<DeviceDefinition, 'tables' | 'cells'>;

/** One table: `size` cells starting at `base` of a layout. Tables with the same layout object share its registers. */
export interface WindowDefinition {
  readonly layout: RegisterLayout;
  readonly base: number;
  readonly size: number;
  readonly bitsPerCell: 1 | 16;
  readonly wholeValues: boolean;
  readonly countsAsPymodbus: boolean;
}

export type LineDefinition = SerialLineDefinition | SocketLineDefinition;

/** The name of the device that answers for each unit identifier; `*` stands for all unit identifiers not listed. */
export type UnitNames = ReadonlyMap<number | '*', string>;

/** The entry of a line in a native file: checked, but otherwise as written. */
export type LineSource = Readonly<Record<string, unknown>>;

/** What lines of all transports have in common. */
interface ServedLine {
  /** The entry as written, from which the rest was derived. */
  readonly source: LineSource;
  readonly units: UnitNames;
  /** `waiting`: if the line can't be opened at the start, the simulator waits for it. If absent, the start fails. */
  readonly start?: 'waiting';
  /** What the line sends without a request; absent if it sends nothing. */
  readonly unsolicited?: readonly UnsolicitedDefinition[];
}

export interface SerialLineDefinition extends SerialSettings, ServedLine {}

export interface SocketLineDefinition extends SocketSettings, ServedLine {
  readonly name: string;
  /** The answer to a request for a missing unit: exception 11, or silence. */
  readonly missingUnit: 'exception' | 'silence';
  /** The device that is copied for each address of a line with several addresses. */
  readonly each?: string;
}

/** Bytes or a valid frame that a line sends without a request: before each reply, or at intervals. */
export interface UnsolicitedDefinition {
  /** Bytes to send unchanged; undefined if `frame` is given. */
  readonly bytes?: Uint8Array;
  /** A frame to send in the framing of the line, with a valid check value and transaction identifier 0. */
  readonly frame?: { readonly unit: number; readonly pdu: Uint8Array };
  readonly before?: 'reply';
  /** The interval, in ms; undefined if the bytes precede replies. */
  readonly every?: number;
  /** How much shorter or longer than `every` an interval may be, in ms. */
  readonly jitter?: number;
}

export interface TrafficDefinition {
  /** Maximum number of events kept; 0 keeps none. */
  readonly events: number;
  /** Maximum memory for events, in bytes. */
  readonly bytes: number;
  /** The files that traffic is written to as it happens; absent if it is not written to files. */
  readonly file?: TrafficFileDefinition;
}

/** The files that traffic is written to, one after another. */
export interface TrafficFileDefinition {
  /** An absolute path. */
  readonly directory: string;
  readonly format: 'ndjson' | 'pcapng';
  /** Maximum bytes per file. A new file begins before this is exceeded. */
  readonly size: number;
  /** Maximum number of files. The oldest is deleted before this is exceeded. */
  readonly files: number;
}

/** What clients of a broker may request: nothing, commands that change nothing, or everything. */
export type MqttAuthority = 'none' | 'read' | 'all';

/** A broker, and what the simulator publishes there. Times are in ms. */
export interface MqttDefinition {
  /** The address: `mqtt:`, `mqtts:`, `ws:` or `wss:`, without a user. */
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  /** Paths of PEM files. */
  readonly files?: Partial<TlsFiles>;
  /** The client identifier; if absent, the simulator derives one from the topic. */
  readonly client?: string;
  /** The beginning of all topics of this bench. */
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
  /** Labels that `fleet` selects benches by. */
  readonly labels: Readonly<Record<string, string>>;
  readonly commands: MqttAuthority;
  /** Whether values are published, and the minimum time between two messages of one value, in ms. */
  readonly publish: { readonly values: boolean; readonly every: number };
  /** The minimum time between two traffic events that are published as samples, in ms; if absent, none are. */
  readonly sample?: number;
  readonly homeAssistant: boolean;
  /** The edge node of Sparkplug B that the bench acts as; absent if it does not. */
  readonly sparkplug?: SparkplugDefinition;
}

/** The parts of the topics of an edge node of Sparkplug B. */
export interface SparkplugDefinition {
  readonly group: string;
  readonly node: string;
}

export interface ApiDefinition {
  readonly host: string;
  readonly port: number;
  /** The token that gives clients full access. */
  readonly token?: string;
  /** Tokens that give clients read access. */
  readonly readTokens?: readonly string[];
  /** Other origins whose pages may use REST. */
  readonly origins?: readonly string[];
  /** Paths of PEM files for HTTPS; if absent, REST is plain HTTP. */
  readonly files?: Pick<TlsFiles, 'cert' | 'key'>;
  /** Maximum number of simultaneous connections; 64 if absent. */
  readonly maxConnections?: number;
  /** Hosts of real devices that clients of REST may name; if absent, none. */
  readonly mayReach?: readonly string[];
}

/**
 * Returns a line of a configuration in the form that fault rules need: with the abilities that decide which
 * faults it supports.
 */
export function faultLine(line: LineDefinition): FaultLine {
  const medium = line.kind === 'serial' && line.path === 'virtual' ? 'virtual' : line.kind;
  return { name: line.name, abilities: abilities(medium, line.framing) };
}
