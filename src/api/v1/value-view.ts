import { z } from 'zod';
import type { RegisterImage } from '../../registers/image.js';
import type { Write } from '../../registers/last-writes.js';
import type { PlacedValue, Value } from '../../registers/value.js';
import type { DeviceValue } from '../../simulator/values.js';

/** A number; text for strings, NaN, the infinities, and integers that a double can't hold. */
const number = z.union([z.number(), z.string()]);

export const valueViewSchema = z.object({
  name: z.string().nullable(),
  /** In its unit. */
  value: number,
  /** As it is stored. */
  raw: number,
  unit: z.string().nullable(),
  type: z.string(),
});

export const registerViewSchema = valueViewSchema.extend({
  table: z.enum(['coils', 'discrete', 'input', 'holding']),
  address: z.number(),
  /** Registers that the value takes. */
  registers: z.number(),
  writable: z.boolean(),
  description: z.string().nullable(),
  /** The word for the raw value. */
  label: z.string().nullable(),
  /** The signal as it was written. */
  signal: z.record(z.string(), z.unknown()).nullable(),
  /** Why the signal is not what it should be. */
  trouble: z.string().nullable(),
  /** Reads at which the value of the signal did not fit the type. */
  saturated: z.number(),
  action: z.string().nullable(),
  /** How often clients have read and written its first register. */
  reads: z.number(),
  writes: z.number(),
  /** Who wrote it last, and when; null when nobody has. A signal writes whenever the value is read. */
  lastWriter: z
    .object({
      by: z.enum(['line', 'REST', 'signal', 'reaction']),
      line: z.string().nullable(),
      client: z.string().nullable(),
      time: z.string().nullable(),
    })
    .nullable(),
});

/** The value now; a signal is computed. */
export function viewValue({ image, place, point }: DeviceValue): z.infer<typeof valueViewSchema> {
  image.refresh(place.address, place.cells);
  const raw = image.valueAt(place);
  const { name, unit, scale = 1 } = point?.definition ?? {};
  return {
    name: name ?? null,
    value: inJson(typeof raw === 'string' || scale === 1 ? raw : tidy(Number(raw) * scale)),
    raw: inJson(raw),
    unit: unit ?? null,
    type: place.type,
  };
}

export function viewRegister(value: DeviceValue): z.infer<typeof registerViewSchema> {
  const { table, address, image, place, point } = value;
  const view = viewValue(value);
  const { description, labels } = point?.definition ?? {};
  const signal = point?.placedSignal?.definition;
  return {
    table,
    address,
    registers: place.cells,
    ...view,
    writable: image.isWritable(place.address),
    description: description ?? null,
    label: labels?.get(Number(view.raw)) ?? null,
    signal: signal ? { [signal.kind]: signal.written } : null,
    trouble: point?.signal?.trouble?.() ?? null,
    saturated: point?.saturated ?? 0,
    action: image.actionAt(place.address)?.name ?? null,
    reads: image.reads.get(place.address),
    writes: image.writes.get(place.address),
    lastWriter: viewLastWriter(value),
  };
}

function viewLastWriter({
  image,
  place,
  point,
}: DeviceValue): z.infer<typeof registerViewSchema>['lastWriter'] {
  const write = latestWrite(image, place);
  // A counter goes on from what was written; any other signal has replaced it by now.
  if (point?.signal && !(write && point.signal.accumulator)) {
    return { by: 'signal', line: null, client: null, time: null };
  }
  if (!write) return null;
  const { by, line = null, client = null } = write.writer;
  return { by, line, client, time: write.at.toISOString() };
}

/** The registers of one value may have been written one by one. */
function latestWrite(image: RegisterImage, { address, cells }: PlacedValue): Write | undefined {
  let latest: Write | undefined;
  for (let cell = address; cell < address + cells; cell++) {
    const write = image.lastWrites.get(cell);
    if (write && (!latest || write.at >= latest.at)) latest = write;
  }
  return latest;
}

function inJson(value: Value): number | string {
  if (typeof value === 'string') return value;
  const number = Number(value);
  const isExact = typeof value === 'bigint' ? Number.isSafeInteger(number) : Number.isFinite(number);
  return isExact ? number : String(value);
}

/** Rounds to twelve digits to remove the error of the multiplication by the scale: 2301 * 0.1 is 230.1. */
function tidy(number: number): number {
  return Number(number.toPrecision(12));
}
