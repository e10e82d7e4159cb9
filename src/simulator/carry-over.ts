import { isDeepStrictEqual } from 'node:util';
import type { Device } from '../device/device.js';
import type { Point } from '../device/point.js';
import { isWritableMeta, withWritable } from '../device/registers/layout.js';
import type { TableWindow } from '../device/registers/table.js';
import { TABLE_NAMES } from '../device/tables.js';
import type { AddressRange } from '../modbus/protocol/pdu.js';
import type { DeviceApart } from './devices.js';

/**
 * Gives a device that takes the place of another one what the old one had become since its definition: values that were
 * written, registers that were defined, signals, manners, clock and power. What the new definition has otherwise than the
 * old one is as the new definition says. Both devices are in the same turn, so no request falls in between.
 */
export function carryOver({ device: before, definition: was }: DeviceApart, now: DeviceApart): void {
  const { device, definition } = now;
  const { time, settings } = before.clock;
  const sameClock = isDeepStrictEqual(was.life?.clock, definition.life?.clock);
  device.clock.resume(time, sameClock ? settings : device.clock.settings);
  device.power.adopt(before.power);
  const sameManners = isDeepStrictEqual(was.extras.manners, definition.extras.manners);
  if (sameManners && !isDeepStrictEqual(before.manners, device.manners)) device.manners = before.manners;
  if (!device.cells && !before.cells)
    for (const { table, write, ...range } of before.defined)
      device.define(table, openIn(device.tables[table].window, range), write);
  for (const table of TABLE_NAMES) carryTable(before.tables[table].window, device.tables[table].window);
  carryPoints(before, device);
}

/** The parts of a range that are not defined. */
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

/** Keeps each value that both definitions begin with alike, and how clients may use it. */
function carryTable(before: TableWindow, now: TableWindow): void {
  const size = Math.min(before.size, now.size);
  if (before.image.isAsConfigured(before.base, size)) return;
  const { layout: were } = before.image;
  const { layout: are } = now.image;
  for (let address = 0; address < size; ) {
    const [from, to] = [before.base + address, now.base + address];
    const cells = now.image.valueSpan(to)?.cells ?? 1;
    address += cells;
    if (address > size) return;
    let isAlike = before.image.typeAt(from + cells) !== 'next' || before.base + size === from + cells;
    for (let i = 0; i < cells && isAlike; i++)
      isAlike =
        were.words[from + i] === are.words[to + i] &&
        withWritable(were.meta[from + i] as number, false) ===
          withWritable(are.meta[to + i] as number, false);
    if (!isAlike || now.image.typeAt(to) === 'invalid') continue;
    for (let i = 0; i < cells; i++) {
      const isWritable = before.image.isWritable(from + i);
      const isAsDefined = isWritable === isWritableMeta(were.meta[from + i] as number);
      const keeps = isAsDefined ? now.image.isWritable(to + i) : isWritable;
      now.image.restore(to + i, before.image.wordAt(from + i), keeps);
    }
  }
}

/** Keeps signals that were set at run time, sums, and whether values are available. */
function carryPoints(before: Device, { points, clock }: Device): void {
  const known = new Map(before.points.all.map((point) => [placeOf(point), point]));
  for (const point of points.all) {
    const old = known.get(placeOf(point));
    const isSame = old !== undefined && isSameSignal(old.definition.signal, point.definition.signal);
    if (isSame) {
      const placed = old.placedSignal;
      if (placed !== old.definition.signal && isKnownHere(placed?.definition.needs ?? [], points.named))
        points.setSignal(point, placed);
      if (old.isSwitchedOn !== (old.definition.available ?? true) && point.sentinel)
        points.setAvailable(point, old.isSwitchedOn);
    }
    const reached =
      isSame && isSameSignal(point.placedSignal, old.placedSignal) && beginAlike(old, point)
        ? old.reached(clock.time)
        : undefined;
    // A sum that begins now has nothing of the time that the clock shows already.
    point.resume(reached ?? { time: clock.time, value: point.stored });
  }
}

/** True for two values of one size that have the same words in their definitions. */
function beginAlike(one: Point, other: Point): boolean {
  const wordsOf = ({ image, location: { address, cells } }: Point) =>
    image.layout.words.subarray(address, address + cells);
  return isDeepStrictEqual(wordsOf(one), wordsOf(other));
}

/** False for a signal that needs a value of its own device that is gone. */
function isKnownHere(needs: readonly string[], named: ReadonlyMap<string, Point>): boolean {
  return needs.every((name) => name.includes('.') || named.has(name));
}

function isSameSignal(one: Point['placedSignal'], other: Point['placedSignal']): boolean {
  if (!one || !other) return one === other;
  return (
    one.definition.kind === other.definition.kind &&
    isDeepStrictEqual(one.definition.written, other.definition.written)
  );
}

function placeOf({ definition: { table, address, type } }: Point): string {
  return `${table} ${address} ${type}`;
}
