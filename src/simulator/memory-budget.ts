import { getHeapStatistics } from 'node:v8';
import type { DeviceDefinition } from '../config/configuration.js';
import type { Device } from '../device/device.js';
import type { PlacedSignal, Point } from '../device/point.js';
import type { FaultRules } from '../faults/rules.js';

const MEBIBYTE = 1024 * 1024;
/** Beside it a Raspberry Pi of 512 MB has room for the program and for its traffic. */
const USUAL_LIMIT = 64 * MEBIBYTE;

/*
 * What things take at most, in bytes, from measurements (docs/limits.md): the worst was a value that an expression of many
 * operators computes. A bound need not be close, but nothing may take more.
 */
const DEVICE = 20_000;
const CELL = 3;
const OBJECT = 1000;
const TEXT = 64;
const CHARACTER = 2;
/** A name, a number or an operator of an expression. */
const TOKEN = 130;
const NUMBER = 16;

/** At most how many bytes of memory something takes that is written so, in JSON or YAML. Any text may be an expression. */
export function costOf(written: unknown): number {
  if (typeof written === 'string') return TEXT + CHARACTER * written.length + TOKEN * tokensIn(written);
  if (typeof written !== 'object' || written === null) return NUMBER;
  if (Array.isArray(written)) return written.reduce<number>((sum, each) => sum + costOf(each), TEXT);
  return Object.entries(written).reduce((sum, [key, value]) => sum + key.length + costOf(value), OBJECT);
}

/** How many names, numbers and operators a text has at most. It is counted without a list of them: a text may be long. */
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

/** The same for the registers of a device and for what moves them. */
export function costOfDevice({ source, tables, cells }: DeviceDefinition): number {
  const size = cells?.size ?? Object.values(tables).reduce((sum, window) => sum + window.size, 0);
  return DEVICE + CELL * size + costOf(source ?? {});
}

/** The same for registers that are defined later, for which a table of `size` registers grows by so many. */
export function costOfRegisters(quantity: number, growth: number): number {
  return OBJECT + NUMBER * quantity + 2 * CELL * growth;
}

/**
 * Counts the memory of what REST has added: devices and copies of them, signals, fault rules. What a configuration defines is
 * not counted: its owner knows the machine. Without this limit a few hundred requests end the program.
 */
export class MemoryBudget {
  /** In bytes: 64 MiB, or a quarter of the heap where Node has less than 256 MiB. */
  readonly limit: number;
  readonly #devices: ReadonlyMap<string, Device>;
  readonly #rules: FaultRules;
  readonly #ofDevices = new Map<Device, number>();
  readonly #ofSignals = new Map<
    Point,
    { readonly device: Device; readonly signal: PlacedSignal; readonly bytes: number }
  >();
  readonly #ofRules = new Map<string, number>();

  constructor(devices: ReadonlyMap<string, Device>, rules: FaultRules) {
    this.#devices = devices;
    this.#rules = rules;
    this.limit = Math.min(USUAL_LIMIT, getHeapStatistics().heap_size_limit / 4);
  }

  /** In bytes. What was removed or replaced since is not counted any more. */
  get used(): number {
    let used = 0;
    for (const [device, bytes] of this.#ofDevices) {
      if (this.#isThere(device)) used += bytes;
      else this.#ofDevices.delete(device);
    }
    for (const [point, { device, signal, bytes }] of this.#ofSignals) {
      if (this.#isThere(device) && point.placedSignal === signal) used += bytes;
      else this.#ofSignals.delete(point);
    }
    for (const [name, bytes] of this.#ofRules) {
      if (this.#rules.has(name)) used += bytes;
      else this.#ofRules.delete(name);
    }
    return used;
  }

  #isThere(device: Device): boolean {
    return this.#devices.get(device.name) === device;
  }

  /** Why there is no room for so many bytes; undefined where there is. @param freed what they take the place of, in bytes */
  whyNot(bytes: number, freed = 0): string | undefined {
    const { used, limit } = this;
    if (used - freed + bytes <= limit) return undefined;
    const sizes = [limit, used, bytes].map((each) => `${(each / MEBIBYTE).toFixed(1)} MiB`);
    return `what REST adds may take ${sizes[0]} of memory, it takes ${sizes[1]}, and this would take ${sizes[2]} more; remove devices, signals or fault rules, or put them into the configuration`;
  }

  /** What the signal takes that a value was given, in bytes. */
  ofSignal(point: Point): number {
    return this.#ofSignals.get(point)?.bytes ?? 0;
  }

  /** What is counted for a device, in bytes, without signals that it was given later. */
  ofDevice(device: Device): number {
    return this.#ofDevices.get(device) ?? 0;
  }

  ofRule(name: string): number {
    return this.#ofRules.get(name) ?? 0;
  }

  countDevice(device: Device, bytes: number): void {
    this.#ofDevices.set(device, (this.#ofDevices.get(device) ?? 0) + bytes);
  }

  countSignal(device: Device, point: Point, signal: PlacedSignal, bytes: number): void {
    this.#ofSignals.set(point, { device, signal, bytes });
  }

  countRule(name: string, bytes: number): void {
    this.#ofRules.set(name, bytes);
  }
}
