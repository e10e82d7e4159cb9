import { z } from 'zod';
import type { Write } from '../../registers/accesses.js';
import type { RegisterImage } from '../../registers/image.js';
import type { PlacedValue, Value } from '../../registers/value.js';
import type { DeviceValue } from '../../simulator/values.js';
import { REGISTER, VALUE } from './examples.js';

/** A number; text for strings, NaN, the infinities, and integers that a double can't hold. */
const number = z.union([z.number(), z.string()]);

export const valueViewSchema = z
  .object({
    name: z.string().nullable(),
    value: number.describe('In its unit.'),
    raw: number.describe('As it is stored.'),
    unit: z.string().nullable(),
    type: z.string(),
  })
  .meta({ id: 'Value', description: 'A value of a device.', examples: [VALUE] });

export const registerViewSchema = valueViewSchema
  .extend({
    table: z.enum(['coils', 'discrete', 'input', 'holding']),
    address: z.number(),
    registers: z.number().describe('Registers that the value takes.'),
    writable: z.boolean(),
    description: z.string().nullable(),
    label: z.string().nullable().describe('The word for the raw value.'),
    signal: z.record(z.string(), z.unknown()).nullable().describe('The signal as it was written.'),
    trouble: z.string().nullable().describe('Why the signal is not what it should be.'),
    saturated: z.number().describe('Reads at which the value of the signal did not fit the type.'),
    action: z.string().nullable(),
    reads: z.number().describe('How often clients have read and written its first register.'),
    writes: z.number(),
    lastWriter: z
      .object({
        by: z.enum(['line', 'REST', 'signal', 'reaction']),
        line: z.string().nullable(),
        client: z.string().nullable(),
        time: z.string().nullable(),
      })
      .nullable()
      .describe(
        'Who wrote it last, and when; null when nobody has. A signal writes whenever the value is read.',
      ),
  })
  .meta({ id: 'Register', description: 'A value with all that is known of it.', examples: [REGISTER] });

export type RegisterView = z.infer<typeof registerViewSchema>;

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
