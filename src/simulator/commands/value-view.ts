import type { Write } from '../../device/registers/accesses.js';
import type { RegisterImage } from '../../device/registers/image.js';
import { setBits, type Value, type ValueLocation } from '../../device/registers/value.js';
import type { DeviceValue } from './device-value.js';
import type { RegisterView, ValueView } from './schemas/value.js';

/** Shows the present value. A signal is computed first. */
export function viewValue(value: DeviceValue): ValueView {
  const { image, location, point } = value;
  image.refresh(location.address, location.cells);
  const raw = image.valueAt(location);
  const { name, unit, scale = 1 } = point?.definition ?? {};
  const available = point?.isAvailable ?? true;
  return {
    name: name ?? null,
    ...storedView(raw, scale),
    ...(!available && { value: null }),
    unit: unit ?? null,
    type: location.type,
    available,
  };
}

/** Shows a stored value in its unit and as it is stored. */
export function storedView(raw: Value, scale: number): Pick<ValueView, 'value' | 'raw'> {
  const isAsStored = typeof raw === 'string' || scale === 1;
  return { value: inJson(isAsStored ? raw : tidy(Number(raw) * scale)), raw: inJson(raw) };
}

export function viewRegister(value: DeviceValue): RegisterView {
  const { table, address, image, location, point } = value;
  const view = viewValue(value);
  const { description, labels, bits } = point?.definition ?? {};
  const signal = point?.placedSignal?.definition;
  return {
    table,
    address,
    registers: location.cells,
    ...view,
    writable: image.isWritable(location.address),
    description: description ?? null,
    label: view.available
      ? (labels?.get(Number(view.raw)) ?? (bits ? setBits(bits, image.valueAt(location)) : null))
      : null,
    signal: signal ? { [signal.kind]: signal.written } : null,
    trouble: point?.signal?.trouble?.() ?? null,
    saturated: point?.saturated ?? 0,
    action: image.actionAt(location.address)?.name ?? null,
    reads: image.reads.get(location.address),
    writes: image.writes.get(location.address),
    lastWriter: viewLastWriter(value),
  };
}

function viewLastWriter({ image, location, point }: DeviceValue): RegisterView['lastWriter'] {
  const write = latestWrite(image, location);
  // A counter continues from what was written; any other signal has replaced it by now.
  if (point?.signal && !(write && point.signal.accumulator)) {
    return { by: 'signal', line: null, client: null, time: null };
  }
  if (!write) return null;
  const { by, line = null, client = null } = write.writer;
  return { by, line, client, time: write.at.toISOString() };
}

/** The latest write to a value, whose registers may have been written one by one. */
function latestWrite(image: RegisterImage, { address, cells }: ValueLocation): Write | undefined {
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
