import type { DefinedRegisters, Device } from '../../device/device.js';
import type { Manners } from '../../device/manners.js';
import type { Point } from '../../device/point.js';
import type { ImageSnapshot, RegisterImage } from '../../device/registers/image.js';
import { isWritableMeta } from '../../device/registers/layout.js';
import type { DeviceDefinition } from '../../document/configuration.js';
import { type DeviceState, deviceFingerprint, FORMAT, jsonOf } from './kept-state.js';

/** A device of a simulator and its definition. */
interface KeptDevice {
  readonly definition: DeviceDefinition;
  readonly device: Device;
}

/**
 * The changes to a device as JSON, in pieces that each take little time. The device is copied when the first
 * piece is requested, so all pieces are from one moment.
 * @param uptime the program's running time in ms, which continues across restarts
 */
export function* deviceStateText({ definition, device }: KeptDevice, uptime: number): Generator<string> {
  const images = Array.from(device.images, (image) => image.snapshot());
  const { time } = device.clock;
  const switched = device.points.all.filter(isSwitched);
  const head: Omit<DeviceState, 'images' | 'manners'> & { readonly manners?: Manners } = {
    format: FORMAT,
    device: device.name,
    fingerprint: deviceFingerprint(definition),
    uptime,
    clock: { time, ...device.clock.settings },
    ...(device.manners !== definition.extras.manners && { manners: { ...device.manners } }),
    ...(device.defined.length > 0 && { defined: [...device.defined] }),
    signals: device.points.all.filter(isOther).map(signalOf),
    ...(switched.length > 0 && { available: switched.map(availabilityOf) }),
    counters: device.points.all.flatMap((point) => counterOf(point, time)),
  };
  yield `${jsonOf(head).slice(0, -1)},"images":[\n`;
  for (const [i, image] of images.entries()) {
    yield i === 0 ? '[' : ',\n[';
    let separator = '\n';
    for (const page of changedPages(image)) {
      yield `${separator}${JSON.stringify(page)}`;
      separator = ',\n';
    }
    yield ']';
  }
  yield '\n]}\n';
}

/**
 * True for a device whose state must be saved even if nothing has changed it: its values have signals, or
 * become available and unavailable.
 */
export function hasSignals({ points }: Device): boolean {
  return points.all.some(({ signal, definition }) => signal !== undefined || definition.isAway !== undefined);
}

/** True for a device with sums, which grow even if nothing changes it. */
export function hasCounters({ points }: Device): boolean {
  return points.all.some(({ signal }) => signal?.accumulator !== undefined);
}

/** Sets a signal the way REST does. @returns what is wrong with the signal */
type PlaceSignal = (point: Point, source: DeviceState['signals'][number]) => string | undefined;

/** Defines registers the way REST does. @returns a sentence if that is not possible */
type DefineRegisters = (registers: DefinedRegisters) => string | undefined;

interface Restoring {
  /** The program's current running time, in ms. */
  readonly uptime: number;
  readonly placeSignal: PlaceSignal;
  readonly define: DefineRegisters;
}

/** Restores the state of a device. @returns sentences that say what could not be restored */
export function restoreDevice(
  { definition, device }: KeptDevice,
  state: DeviceState,
  { uptime, placeSignal, define }: Restoring,
): string[] {
  if (state.fingerprint !== deviceFingerprint(definition)) return ['the file defines it differently now'];
  const problems: string[] = [];
  const { points, clock } = device;
  const at = locationsOf(device);
  for (const each of state.defined ?? []) {
    const problem = define(each);
    if (problem !== undefined)
      problems.push(`the registers from ${each.table} ${each.address} on: ${problem}`);
  }
  for (const each of state.signals) {
    const point = at.get(cellOf(each));
    const problem = point ? placeSignal(point, each) : 'there is no such value';
    if (problem !== undefined) problems.push(`the signal of ${each.table} ${each.address}: ${problem}`);
  }
  for (const each of state.available ?? []) {
    const point = at.get(cellOf(each));
    if (point?.sentinel) points.setAvailable(point, each.available);
    else problems.push(`whether ${each.table} ${each.address} is available: there is no such value`);
  }
  const { time, paused, speed } = state.clock;
  const missed = paused ? 0 : Math.max(0, uptime - state.uptime) * speed;
  if (state.manners) device.manners = Object.keys(state.manners).length > 0 ? state.manners : undefined;
  clock.resume(time + missed, { paused, speed });
  for (const [i, image] of Array.from(device.images).entries()) {
    // A signal that was removed from the file has already written its current value.
    image.reset();
    const wrong = state.images[i]?.filter((page) => !restorePage(image, page)) ?? [];
    if (wrong.length > 0) problems.push(`${wrong.length} pages of registers have the wrong length`);
  }
  const sums = new Map(state.counters.map((each) => [cellOf(each), each]));
  for (const point of points.all) {
    const sum = sums.get(cellOf(point.definition));
    // A sum with a later time comes from a damaged file.
    const isUsable = sum !== undefined && sum.time <= clock.time;
    point.resume(isUsable ? sum : { time: clock.time, value: point.stored });
  }
  points.restored();
  return problems;
}

function isOther({ placedSignal, definition }: Point): boolean {
  return placedSignal !== definition.signal;
}

function isSwitched({ isSwitchedOn, definition: { available = true } }: Point): boolean {
  return isSwitchedOn !== available;
}

function availabilityOf({ isSwitchedOn, definition: { table, address } }: Point) {
  return { table, address, available: isSwitchedOn };
}

function signalOf({ placedSignal, definition: { table, address } }: Point): DeviceState['signals'][number] {
  if (!placedSignal) return { table, address, signal: null };
  const { kind, written } = placedSignal.definition;
  return { table, address, signal: { [kind]: written } };
}

function counterOf(point: Point, time: number): DeviceState['counters'] {
  const { table, address } = point.definition;
  const reached = point.reached(time);
  return reached && Number.isFinite(reached.value)
    ? [{ table, address, time: reached.time, value: reached.value }]
    : [];
}

function locationsOf({ points }: Device): Map<string, Point> {
  return new Map(points.all.map((point) => [cellOf(point.definition), point]));
}

function cellOf({ table, address }: { readonly table: string; readonly address: number }): string {
  return `${table} ${address}`;
}

/** Number of cells in a page. Registers are saved in pages, and pages without changes are left out. */
const PAGE_CELLS = 256;

/** A page: its number, its words (low byte first) and its access flags (one byte each), both in base64. */
type ImagePage = readonly [page: number, words: string, flags: string];

/** The pages of an image that differ from the configuration. */
function* changedPages({ layout, words, meta }: ImageSnapshot): Generator<ImagePage> {
  if (words === layout.words && meta === layout.meta) return;
  for (let first = 0; first < layout.size; first += PAGE_CELLS) {
    const end = Math.min(first + PAGE_CELLS, layout.size);
    if (isSame(words, layout.words, first, end) && isSame(meta, layout.meta, first, end)) continue;
    yield [first / PAGE_CELLS, base64Of(words.subarray(first, end)), flagsOf(meta.subarray(first, end))];
  }
}

/** Restores a page. @returns false, without restoring anything, if the page does not belong to the image */
function restorePage(image: RegisterImage, [page, words, flags]: ImagePage): boolean {
  const first = page * PAGE_CELLS;
  const cells = Math.min(PAGE_CELLS, image.size - first);
  const [wordBytes, flagBytes] = [Buffer.from(words, 'base64'), Buffer.from(flags, 'base64')];
  if (cells <= 0 || wordBytes.length !== 2 * cells || flagBytes.length !== cells) return false;
  for (let i = 0; i < cells; i++) {
    if (image.typeAt(first + i) === 'invalid') continue;
    image.restore(first + i, wordBytes.readUInt16LE(2 * i), flagBytes[i] !== 0);
  }
  return true;
}

function isSame(one: ArrayLike<number>, other: ArrayLike<number>, first: number, end: number): boolean {
  for (let i = first; i < end; i++) if (one[i] !== other[i]) return false;
  return true;
}

/** Memory has the low byte first on every machine that Node 20 supports, except IBM's s390x. */
function base64Of(words: Uint16Array): string {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString('base64');
}

function flagsOf(meta: Uint8Array): string {
  return Buffer.from(meta.map((each) => (isWritableMeta(each) ? 1 : 0))).toString('base64');
}
