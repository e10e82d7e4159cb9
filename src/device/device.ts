import type { Work } from '../common/work.js';
import { MAX_PDU_LENGTH } from '../modbus/protocol/limits.js';
import type { AddressRange } from '../modbus/protocol/pdu.js';
import { DependencyGraph } from './dependency-graph.js';
import type { Diagnostics } from './diagnostics.js';
import { Files } from './files.js';
import { answer, type Server } from './functions.js';
import { type IdentityObjects, identityObjects } from './identification.js';
import {
  type Manners,
  manneredAnswer,
  servedTables,
  storedAs,
  TimedManners,
  takenRequest,
} from './manners.js';
import type { PointDefinition } from './point.js';
import { Points } from './points.js';
import { type Interruption, Power } from './power.js';
import type { FeedDefinition } from './queue-feed.js';
import { clientAccess } from './read-write.js';
import type { Writer } from './registers/accesses.js';
import type { History } from './registers/history.js';
import type { RegisterImage } from './registers/image.js';
import { type ClockSettings, DeviceClock } from './signals/clock.js';
import type { TableName, Tables } from './tables.js';

/** The simulated device that answers while a real device does not. */
interface Fallback {
  /** Who sends the request; set this before `respond`. */
  writer: Writer;
  respond(requestPdu: Uint8Array, diagnostics: Diagnostics): Uint8Array | undefined;
}

/** The outcome of a request to a real device. */
export type RealOutcome =
  | { readonly kind: 'response'; readonly pdu: Uint8Array }
  /** The real device does not answer, and the simulated device answers instead. */
  | { readonly kind: 'fallback'; readonly device: Fallback }
  | { readonly kind: 'silence'; readonly reason: string };

/** A real device that answers instead of a simulated one. */
export interface RealDevice {
  /** The address of the real device, and whether it answered the last request. */
  readonly status: { readonly to: string; readonly answers: boolean };
  /**
   * Sends a request to the real device once, without retries.
   * @param unitId the client's unit identifier
   * @param done called once, within this call or later, unless the request is cancelled first
   * @returns a function that cancels the request: its reply is no longer awaited, and a request not yet sent
   * is not sent
   */
  ask(unitId: number, requestPdu: Uint8Array, done: (outcome: RealOutcome) => void): () => void;
}

/** The parts of a device that change over time without a client. */
export interface DeviceLife {
  readonly points: readonly PointDefinition[];
  readonly clock: Partial<ClockSettings>;
  /** The seed for the random values of signals that have no seed of their own. */
  readonly seed: number;
  /** The FIFO queues that signals feed. */
  readonly feeds: readonly FeedDefinition[];
}

const STILL: DeviceLife = { points: [], clock: {}, seed: 0, feeds: [] };

/** The parts of a device. All but the name and the tables have a default. */
export interface DeviceOptions extends Partial<Omit<Server, 'access' | 'reactions'>> {
  readonly name: string;
  readonly tables: Tables;
  /** The single list of cells behind all four tables. Only devices from pymodbus files have one. */
  readonly cells?: RegisterImage;
  readonly life?: DeviceLife;
  readonly manners?: Manners;
  /** Registers that are defined although the configuration does not define them. */
  readonly defined?: readonly DefinedRegisters[];
  /** The values of other devices that signals of this device may depend on, and the real time. */
  readonly graph?: DependencyGraph;
}

/** Registers of a table defined at run time: `quantity` registers starting at `address`, each 0 at first. */
export interface DefinedRegisters extends AddressRange {
  readonly table: TableName;
  /** True if clients may write the registers. */
  readonly write: boolean;
}

/** One simulated server. It answers request PDUs from its registers, and any number of lines may share it. */
export class Device {
  readonly name: string;
  readonly tables: Tables;
  readonly cells: RegisterImage | undefined;
  readonly clock: DeviceClock;
  readonly points: Points;
  readonly power: Power;
  /**
   * How many times the power was lost. State that does not survive a power loss is discarded when this number
   * changes.
   */
  powerLosses = 0;
  /** How many times the device was restarted, after a power loss or otherwise. */
  starts = 0;
  /** The tables as clients see them. */
  servedTables: Tables;
  /**
   * The table and the first address of the registers that clients see in each table; undefined if each table
   * has its own.
   */
  stored: { readonly in: ReturnType<typeof storedTables> } | undefined;
  /** The manners that involve time; absent without manners. */
  timedManners: TimedManners | undefined;
  /** The real device that answers instead of this one; absent if the registers answer. */
  real: RealDevice | undefined;
  #manners: Manners | undefined;
  #mannersChanges = -1;
  #server: Server;
  readonly #graph: DependencyGraph;
  readonly #now: () => number;
  readonly #defined: DefinedRegisters[];

  constructor(options: DeviceOptions) {
    const { name, tables, cells, identity = identityObjects(), life = STILL } = options;
    const { graph = new DependencyGraph(() => 0) } = options;
    const { now } = graph.history;
    this.name = name;
    this.tables = tables;
    this.cells = cells;
    this.#defined = [...(options.defined ?? [])];
    this.servedTables = tables;
    this.#now = now;
    this.clock = new DeviceClock(now, life.clock);
    this.power = new Power(now);
    this.#graph = graph;
    this.points = new Points(life.points, {
      device: name,
      tables,
      clock: this.clock,
      seed: life.seed,
      graph,
      feeds: life.feeds,
    });
    this.#server = {
      tables,
      identity,
      files: options.files ?? new Files(),
      queues: this.#queues(options.queues, life.feeds),
      access: clientAccess(this.points.reactions),
      reactions: this.points.reactions,
      exceptionStatus: options.exceptionStatus ?? [],
      serverId: options.serverId ?? { id: [0], running: true, additional: productName(identity) },
    };
    this.manners = options.manners;
    for (const image of this.images) image.history = graph.history;
  }

  /** The past contents of the registers. */
  get history(): History {
    return this.#graph.history;
  }

  /** Calls `look` with this and all other devices as they were at a real time. It must change nothing. */
  at<Seen>(real: number, look: () => Seen): Seen {
    return this.#graph.at(real, look);
  }

  /** Creates a device in pieces. No part of it is used in the meantime. */
  static *making(options: DeviceOptions): Work<Device> {
    const { life = STILL } = options;
    const device = new Device({ ...options, life: { ...life, points: [] } });
    yield* device.points.adding(life.points);
    return device;
  }

  get manners(): Manners | undefined {
    return this.#manners;
  }

  /** Sets the device's manners, as if it had just started. Undefined removes them. */
  set manners(manners: Manners | undefined) {
    this.#manners = manners;
    this.#mannersChanges++;
    this.timedManners = manners && new TimedManners(manners, this.#now());
    this.stored = manners && { in: storedTables(manners) };
    this.#serveTables();
  }

  /**
   * Adds manners to those of the device temporarily.
   * @returns a function that restores the previous manners, unless others were set in the meantime
   */
  lendManners(manners: Manners): () => void {
    const before = this.#manners;
    const now = { ...before, ...manners };
    this.manners = now;
    return () => {
      if (this.#manners === now) this.manners = before;
    };
  }

  /**
   * Defines undefined registers or coils of a table, with the value 0. Not for devices whose tables share
   * their cells.
   */
  define(table: TableName, ranges: readonly AddressRange[], write: boolean): void {
    this.tables[table].define(ranges, write);
    for (const { address, quantity } of ranges) this.#noteDefined({ table, address, quantity, write });
    this.history.begin(this.points, 'defined');
    this.#serveTables();
  }

  #noteDefined({ table, address, quantity, write }: DefinedRegisters): void {
    const last = this.#defined.at(-1);
    const goesOn = last?.table === table && last.write === write && last.address + last.quantity === address;
    if (goesOn) this.#defined.pop();
    const first = goesOn ? last : { address, quantity: 0 };
    this.#defined.push({ table, address: first.address, quantity: first.quantity + quantity, write });
  }

  /** The registers defined at run time, in the order of definition. The ranges of a table don't overlap. */
  get defined(): readonly DefinedRegisters[] {
    return this.#defined;
  }

  #serveTables(): void {
    const manners = this.#manners;
    this.servedTables = manners ? servedTables(this.tables, manners) : this.tables;
    this.#server = { ...this.#server, tables: this.servedTables };
  }

  /**
   * Restarts the device: registers get their configured values, except retained ones, and signals start
   * again. Without power, the clock starts when the power is back.
   */
  restart(): void {
    const isOn = this.power.state !== 'off';
    this.#restartAt(isOn ? undefined : this.power.back, isOn);
  }

  /** Switches the power off, for a time or until `restore`. The device restarts when the power is back. */
  interrupt(interruption: Interruption): void {
    const isOn = this.power.state !== 'off';
    this.power.interrupt(interruption);
    this.powerLosses++;
    this.#restartAt(this.power.back, isOn);
  }

  /** Switches the power on and restarts the device. Does nothing unless the power is off. */
  restore(bootMs: number): void {
    if (this.power.state !== 'off') return;
    this.power.restore(bootMs);
    this.#restartAt(this.power.back, false);
  }

  /** Changes the settings of the clock, or moves the clock by `step` ms. Accumulators keep their sums. */
  setClock(settings: Partial<ClockSettings>, step: number): void {
    this.history.begin(this.points, 'clock');
    this.#graph.settleDevice(this.points);
    this.clock.set(settings);
    if (step > 0) this.points.step(step);
  }

  /** Returns the configured queues and those that signals feed. Without either, every address has an empty queue. */
  #queues(configured: Server['queues'], feeds: readonly FeedDefinition[]): Server['queues'] {
    if (feeds.length === 0) return configured;
    return { get: (address) => this.points.queueAt(address) ?? configured?.get(address) };
  }

  /** @param isOn false without power; the values from before the power loss are then already known */
  #restartAt(moment: number | undefined, isOn: boolean): void {
    this.starts++;
    this.#graph.settleDevice(this.points);
    if (isOn) this.points.keepBefore();
    const retained = this.points.all
      .filter(({ definition }) => definition.retain)
      .map((point) => [point, point.raw] as const);
    for (const image of this.images) image.reset();
    for (const [{ image, location }, raw] of retained) image.show(location, raw);
    this.clock.restart(moment);
    this.timedManners = this.#manners && new TimedManners(this.#manners, moment ?? this.#now());
    this.points.restart();
  }

  /**
   * A number that increases whenever registers, access flags, signals, manners or the clock are changed.
   * Computed values do not count.
   */
  get changes(): number {
    let { changes } = this.points;
    changes += this.clock.changes + this.#mannersChanges;
    for (const image of this.images) changes += image.changes;
    return changes;
  }

  /** The images behind the tables, each once. */
  get images(): ReadonlySet<RegisterImage> {
    const images = Object.values(this.tables).map(({ window }) => window.image);
    return new Set(this.cells ? [...images, this.cells] : images);
  }

  /** Sets who sends the request. Call this before `respond`. Clients write coils and holding registers. */
  set writer(writer: Writer) {
    this.servedTables.coils.writer = writer;
    this.servedTables.holding.writer = writer;
  }

  /**
   * Returns the response PDU to a request PDU of at least one byte. The specification's errors are exception
   * responses. Undefined if there is no reply (listen-only mode, or the manners of the device). `diagnostics`
   * belongs to the line of the request.
   */
  respond(requestPdu: Uint8Array, diagnostics: Diagnostics): Uint8Array | undefined {
    const plain = (pdu: Uint8Array) => answer(this.#server, diagnostics, pdu);
    if (this.#manners === undefined) return plain(requestPdu);
    return manneredAnswer(this.#manners, this.servedTables, requestPdu, plain);
  }

  /**
   * Returns the request to send to the real device behind this one, or the response that is given without
   * asking it.
   */
  takes(requestPdu: Uint8Array): ReturnType<typeof takenRequest> {
    return this.#manners === undefined ? { request: requestPdu } : takenRequest(this.#manners, requestPdu);
  }
}

function storedTables(manners: Manners) {
  return {
    coils: storedAs(manners, 'coils'),
    discrete: storedAs(manners, 'discrete'),
    input: storedAs(manners, 'input'),
    holding: storedAs(manners, 'holding'),
  };
}

/**
 * Returns the product name, cut to fit into a response with the function code, byte count, identifier and run
 * indicator.
 */
function productName(identity: IdentityObjects): string {
  const name = `${identity.get(0) ?? ''} ${identity.get(1) ?? ''}`;
  return name.trim().slice(0, MAX_PDU_LENGTH - 4);
}
