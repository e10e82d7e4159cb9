import { isDeepStrictEqual } from 'node:util';
import { isMapping, isSameData } from '../common/schema/parts.js';
import type { Work } from '../common/work.js';
import type { Device } from '../device/device.js';
import type { Point } from '../device/point.js';
import { isWritableMeta, withWritable } from '../device/registers/layout.js';
import type { TableWindow } from '../device/registers/table.js';
import { TABLE_NAMES } from '../device/tables.js';
import type { AddressRange } from '../modbus/protocol/pdu.js';
import type { DeviceApart } from './devices.js';

/** How many values are processed before a yield. */
const PIECE = 256;

/**
 * Gives a new device what its predecessor has acquired at run time: written values, registers defined since
 * then, sums, manners, clock and power. Where the new definition differs from the old one, the new definition
 * wins. The new device is not in use yet, so this work can yield. It can be repeated if the old device
 * changes in the meantime.
 */
export function* carryingOver(
  { device: before, definition: was }: DeviceApart,
  now: DeviceApart,
): Work<void> {
  const { device, definition } = now;
  for (const image of device.images) image.reset();
  const { time, settings } = before.clock;
  const sameClock = isSameData(was.life?.clock, definition.life?.clock);
  device.clock.resume(time, sameClock ? settings : device.clock.settings);
  device.points.begin();
  device.power.adopt(before.power);
  const sameManners = isSameData(was.extras.manners, definition.extras.manners);
  if (sameManners && !isSameData(before.manners, device.manners)) device.manners = before.manners;
  if (!device.cells && !before.cells)
    for (const { table, write, ...range } of before.defined)
      device.define(table, openIn(device.tables[table].window, range), write);
  for (const table of TABLE_NAMES)
    yield* carryingTable(before.tables[table].window, device.tables[table].window);
  yield* carryingPoints(before, device);
}

/** The undefined parts of a range. */
function openIn({ image, base }: TableWindow, { address, quantity }: AddressRange): AddressRange[] {
  const open: { address: number; quantity: number }[] = [];
  for (let at = address; at < address + quantity; at++) {
    if (image.typeAt(base + at) !== 'invalid') continue;
    const last = open.at(-1);
    if (last && last.address + last.quantity === at) last.quantity++;
    else open.push({ address: at, quantity: 1 });
  }
  return open;
}

/** Keeps each value whose initial state is the same in both definitions, and its access rights for clients. */
function* carryingTable(before: TableWindow, now: TableWindow): Work<void> {
  const size = Math.min(before.size, now.size);
  if (before.image.isAsConfigured(before.base, size)) return;
  let looked = 0;
  for (let address = 0; address < size; ) {
    if (++looked % PIECE === 0) yield;
    const at = { from: before.base + address, to: now.base + address };
    const cells = now.image.valueSpan(at.to)?.cells ?? 1;
    address += cells;
    if (address <= size && areAlike(before, now, { ...at, cells })) carryValue(before, now, { ...at, cells });
  }
}

/** The cells of a value in two images. */
interface Pair {
  readonly from: number;
  readonly to: number;
  readonly cells: number;
}

/** True if both definitions have a value at this place with the same type, byte order and initial words. */
function areAlike(
  { image: before, base, size }: TableWindow,
  { image: now }: TableWindow,
  pair: Pair,
): boolean {
  const { from, to, cells } = pair;
  if (now.typeAt(to) === 'invalid') return false;
  // The old value may be longer.
  if (from + cells < base + size && before.typeAt(from + cells) === 'next') return false;
  const [were, are] = [before.layout, now.layout];
  for (let i = 0; i < cells; i++) {
    if (were.words[from + i] !== are.words[to + i]) return false;
    const metas = [were.meta[from + i], are.meta[to + i]].map((meta) => withWritable(meta as number, false));
    if (metas[0] !== metas[1]) return false;
  }
  return true;
}

function carryValue(
  { image: before }: TableWindow,
  { image: now }: TableWindow,
  { from, to, cells }: Pair,
): void {
  for (let i = 0; i < cells; i++) {
    const isWritable = before.isWritable(from + i);
    const isAsDefined = isWritable === isWritableMeta(before.layout.meta[from + i] as number);
    now.restore(to + i, before.wordAt(from + i), isAsDefined ? now.isWritable(to + i) : isWritable);
  }
}

/** Keeps sums, and which values are available. */
function* carryingPoints(before: Device, { points, clock, tables }: Device): Work<void> {
  for (const point of points.all) {
    if (!point.signal?.accumulator) continue;
    const old = samePlace(point, before);
    const goesOn = old !== undefined && beginAlike(old, point) && beginsAt(old) === beginsAt(point);
    // A sum that starts now must not include the time already on the clock.
    point.resume({ time: clock.time, value: goesOn ? point.stored : beginsAt(point) });
    yield;
  }
  for (const [i, old] of before.points.all.entries()) {
    if (i % PIECE === 0) yield;
    const isSwitched = old.isSwitchedOn !== (old.definition.available ?? true);
    if (!isSwitched && !old.signal?.accumulator) continue;
    const point = sameAs(old, { points, tables });
    if (!point) continue;
    if (isSwitched && point.sentinel) points.setAvailable(point, old.isSwitchedOn);
    const reached =
      old.placedSignal === old.definition.signal && beginAlike(old, point) && old.reached(clock.time);
    if (reached) point.resume(reached);
  }
}

/**
 * Keeps signals that were set at run time. Call this once the new devices are in place, because a signal may
 * need values of other devices.
 */
export function carrySignals({ device: before }: DeviceApart, { device }: DeviceApart): void {
  for (const old of before.points.all) {
    const placed = old.placedSignal;
    if (placed === old.definition.signal) continue;
    const point = sameAs(old, device);
    if (!point || !isKnownHere(placed?.definition.needs ?? [], device.points.named)) continue;
    device.points.setSignal(point, placed);
    const reached = beginAlike(old, point) ? old.reached(device.clock.time) : undefined;
    if (reached) point.resume(reached);
  }
}

/** The value at the same address with the same type, if its definition has the same signal. */
function sameAs(old: Point, device: Pick<Device, 'points' | 'tables'>): Point | undefined {
  const point = samePlace(old, device);
  return point && isSameSignal(point.definition.signal, old.definition.signal) ? point : undefined;
}

/** Finds the device's value at the same address with the same type. */
function samePlace(
  { definition: { table, address, type } }: Point,
  { points, tables }: Pick<Device, 'points' | 'tables'>,
): Point | undefined {
  const { image, base } = tables[table].window;
  const point = points.at(image, base + address);
  return point?.definition.address === address && point.definition.type === type ? point : undefined;
}

/** Where a sum starts according to its definition. */
function beginsAt({ definition: { signal } }: Point): number {
  const written = signal?.definition.written;
  return isMapping(written) ? Number(written.from ?? 0) : 0;
}

/** True if two values of the same size have the same words in their definitions. */
function beginAlike(one: Point, other: Point): boolean {
  const wordsOf = ({ image, location: { address, cells } }: Point) =>
    image.layout.words.subarray(address, address + cells);
  return isDeepStrictEqual(wordsOf(one), wordsOf(other));
}

/** False if a signal needs a value of its own device that no longer exists. */
function isKnownHere(needs: readonly string[], named: ReadonlyMap<string, Point>): boolean {
  return needs.every((name) => name.includes('.') || named.has(name));
}

function isSameSignal(one: Point['placedSignal'], other: Point['placedSignal']): boolean {
  if (!one || !other) return one === other;
  return (
    one.definition.kind === other.definition.kind &&
    isSameData(one.definition.written, other.definition.written)
  );
}
