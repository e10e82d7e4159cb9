import { getHeapStatistics } from 'node:v8';
import type { Device } from '../device/device.js';
import type { FaultRules } from '../device/faults/rules.js';
import type { PlacedSignal, Point } from '../device/point.js';
import { TABLE_NAMES } from '../device/tables.js';
import type { DeviceDefinition } from '../document/configuration.js';
import { POINT_KEYS } from '../document/native/points.js';
import { ADDRESS_SPACE } from '../modbus/protocol/limits.js';

const MEBIBYTE = 1024 * 1024;
/** The default limit, in bytes. It leaves a Raspberry Pi with 512 MB enough room for the program and its traffic. */
const USUAL_LIMIT = 64 * MEBIBYTE;

/**
 * Maximum memory per thing, in bytes, from measurements (docs/limits.md). The worst was a value that an
 * expression with many operators computes. A bound need not be tight, but nothing may exceed it.
 */
const DEVICE = 20_000;
const CELL = 3;
const OBJECT = 1000;
const TEXT = 64;
const CHARACTER = 2;
/** The memory for a name, number or operator in an expression. */
const TOKEN = 130;
const NUMBER = 16;
/** The memory for each value of an entry with several values, including its signal. */
const VALUE = 4000;

/**
 * Maximum number of values per device that REST may add: a reset starts all of them, and no line is served
 * while it does.
 */
const MOST_VALUES = 1000;

/**
 * Maximum total length, in characters, of the `onWrite` expressions that REST may add to one value. They are
 * compiled together, which takes a millisecond for this many.
 */
const MOST_CHARACTERS = 4000;

/** The cost of something in the form of a native file. */
export interface Cost {
  /** Maximum memory that it takes, in bytes. */
  readonly bytes: number;
  /**
   * The number of values with a name, a signal, an action or reactions. Each is an object, and is started at
   * each restart.
   */
  readonly values: number;
  /** The largest total length of the `onWrite` expressions of one value, in characters. */
  readonly characters: number;
}

/**
 * Computes the memory that a definition of a native file will need, before any of it is created. Any text may be
 * an expression, and any mapping an entry of registers. The time depends on the length of the input, not on
 * the quantities in it.
 */
export function costOf(written: unknown): Cost {
  const cost = { bytes: 0, values: 0, characters: 0 };
  count(written, cost);
  return cost;
}

function count(written: unknown, cost: { -readonly [Key in keyof Cost]: number }): void {
  if (typeof written === 'string')
    cost.bytes += TEXT + CHARACTER * written.length + TOKEN * tokensIn(written);
  else if (typeof written !== 'object' || written === null) cost.bytes += NUMBER;
  else if (Array.isArray(written)) {
    cost.bytes += TEXT;
    for (const each of written) count(each, cost);
  } else {
    cost.bytes += OBJECT;
    const values = valuesOf(written as Readonly<Record<string, unknown>>);
    cost.values += values;
    cost.bytes += VALUE * Math.max(0, values - 1);
    for (const [key, value] of Object.entries(written)) {
      cost.bytes += key.length;
      if (key === 'onWrite') cost.characters = Math.max(cost.characters, charactersIn(value));
      count(value, cost);
    }
  }
}

function charactersIn(written: unknown): number {
  if (typeof written === 'string') return written.length;
  if (typeof written !== 'object' || written === null) return 0;
  return Object.values(written).reduce<number>((sum, each) => sum + charactersIn(each), 0);
}

/** The keys that make values more than plain numbers. */
const KEYS = [...POINT_KEYS, 'action'];

/** The number of such values in an entry of registers. */
function valuesOf(entry: Readonly<Record<string, unknown>>): number {
  if (entry.address === undefined || !KEYS.some((key) => entry[key] !== undefined)) return 0;
  const { quantity, value } = entry;
  if (typeof quantity === 'number' && quantity > 0) return Math.min(quantity, ADDRESS_SPACE);
  return Array.isArray(value) ? value.length : 1;
}

/**
 * Maximum number of names, numbers and operators that a string can contain. They are counted without building
 * a list, because a string may be long.
 */
function tokensIn(text: string): number {
  let tokens = 0;
  let isInWord = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
    const isOfWord = isLetter || (code >= 0x30 && code <= 0x39) || code === 0x5f;
    if (isOfWord ? !isInWord : code > 0x20) tokens++;
    isInWord = isOfWord;
  }
  return tokens;
}

/** The memory of a device, in bytes: its registers and their signals. */
export function costOfDevice({ source = NOTHING, tables, cells }: DeviceDefinition): number {
  const size = cells?.size ?? Object.values(tables).reduce((sum, window) => sum + window.size, 0);
  // A line may have hundreds of copies of a device, so the cost of an entry is computed only once.
  const bytes = bytesOf.get(source) ?? costOf(source).bytes;
  bytesOf.set(source, bytes);
  return DEVICE + CELL * size + bytes;
}

const NOTHING = {};
/** The memory of device entries, in bytes. Entries never change. */
const bytesOf = new WeakMap<object, number>();

/** Why a device has more than REST may add; undefined if it does not. */
export function whyTooDear(written: unknown): string | undefined {
  const { values, characters } = costOf(written);
  if (values > MOST_VALUES)
    return `expected at most ${MOST_VALUES} values with a name, a signal, an action or reactions, got ${values}: define the device in the configuration file`;
  if (characters > MOST_CHARACTERS)
    return `expected expressions of at most ${MOST_CHARACTERS} characters in onWrite of one value, got ${characters}: define the device in the configuration file`;
  return undefined;
}

/**
 * The memory of registers that are defined later, in bytes.
 * @param growth by how many registers the table grows
 */
export function costOfRegisters(quantity: number, growth: number): number {
  return OBJECT + NUMBER * quantity + 2 * CELL * growth;
}

/** The memory of a device, in bytes, and of the signals that its values got later. */
interface CountedDevice {
  bytes: number;
  readonly signals: Map<Point, { readonly signal: PlacedSignal; readonly bytes: number }>;
}

function usedBy({ bytes, signals }: CountedDevice): number {
  let used = bytes;
  for (const [point, { signal, bytes: more }] of signals) {
    if (point.placedSignal === signal) used += more;
    else signals.delete(point);
  }
  return used;
}

/**
 * Counts the memory of what REST has added: devices and their copies, signals, fault rules. What a
 * configuration defines does not count: its owner knows the machine. Without this limit, a few hundred
 * requests could crash the program.
 */
export class MemoryBudget {
  /** The limit in bytes: 64 MiB, or a quarter of the heap if Node has less than 256 MiB. */
  readonly limit: number;
  readonly #devices: ReadonlyMap<string, Device>;
  readonly #rules: FaultRules;
  /** Weak, so that a removed device can be garbage-collected. */
  readonly #ofDevices = new WeakMap<Device, CountedDevice>();
  /** The names of devices that use memory. */
  readonly #names = new Set<string>();
  readonly #ofRules = new Map<string, number>();

  constructor(devices: ReadonlyMap<string, Device>, rules: FaultRules) {
    this.#devices = devices;
    this.#rules = rules;
    this.limit = Math.min(USUAL_LIMIT, getHeapStatistics().heap_size_limit / 4);
  }

  /** The memory in use, in bytes. Things that were removed or replaced no longer count. */
  get used(): number {
    let used = 0;
    for (const name of this.#names) {
      const device = this.#devices.get(name);
      const counted = device && this.#ofDevices.get(device);
      if (counted) used += usedBy(counted);
      else this.#names.delete(name);
    }
    for (const [name, bytes] of this.#ofRules) {
      if (this.#rules.has(name)) used += bytes;
      else this.#ofRules.delete(name);
    }
    return used;
  }

  /**
   * Why there is no room for more bytes; undefined if there is.
   * @param freed the bytes of what would be replaced
   */
  whyNot(bytes: number, freed = 0): string | undefined {
    const { used, limit } = this;
    if (used - freed + bytes <= limit) return undefined;
    const sizes = [limit, used, bytes].map((each) => `${(each / MEBIBYTE).toFixed(1)} MiB`);
    return `additions over REST may use ${sizes[0]} of memory; they use ${sizes[1]}, and this would use ${sizes[2]} more; remove devices, signals or fault rules, or define them in the configuration file`;
  }

  /** The bytes counted for a signal that was given to a value of the device. */
  ofSignal(device: Device, point: Point): number {
    return this.#ofDevices.get(device)?.signals.get(point)?.bytes ?? 0;
  }

  /** The bytes counted for a device, without the signals that it was given later. */
  ofDevice(device: Device): number {
    return this.#ofDevices.get(device)?.bytes ?? 0;
  }

  ofRule(name: string): number {
    return this.#ofRules.get(name) ?? 0;
  }

  countDevice(device: Device, bytes: number): void {
    this.#countedOf(device).bytes += bytes;
  }

  countSignal(device: Device, point: Point, signal: PlacedSignal, bytes: number): void {
    this.#countedOf(device).signals.set(point, { signal, bytes });
  }

  #countedOf(device: Device): CountedDevice {
    const counted = this.#ofDevices.get(device) ?? { bytes: 0, signals: new Map() };
    this.#ofDevices.set(device, counted);
    this.#names.add(device.name);
    return counted;
  }

  countRule(name: string, bytes: number): void {
    this.#ofRules.set(name, bytes);
  }
}

/**
 * The memory of a copy of a device, in bytes. A copy also has the registers that were defined in its source
 * at run time.
 */
export function costOfCopy({ defined, tables }: Device, definition: DeviceDefinition): number {
  const registers = defined.reduce((sum, { quantity }) => sum + quantity, 0);
  const growth = TABLE_NAMES.reduce(
    (sum, table) => sum + tables[table].window.size - definition.tables[table].size,
    0,
  );
  return costOfDevice(definition) + costOfRegisters(registers, growth);
}
