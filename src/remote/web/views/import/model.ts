import type { ImportedView, ImportRequest } from '../../../../simulator/commands/schemas/imported.js';

export type Imported = ImportedView;

/** What is said of a file: how its columns, addresses and defaults are meant. */
export type ImportChoices = Pick<ImportRequest, 'columns' | 'base' | 'table' | 'defaults'>;

/** The uses of a column, as they are chosen. */
export const USES: readonly (readonly [role: string, text: string])[] = [
  ['none', '–'],
  ['address', 'address'],
  ['last', 'last address'],
  ['name', 'name'],
  ['type', 'type'],
  ['table', 'table'],
  ['scale', 'scale (×)'],
  ['divisor', 'divisor (÷)'],
  ['decimals', 'decimals'],
  ['unit', 'unit'],
  ['access', 'access'],
  ['words', 'length'],
  ['bytes', 'bytes'],
  ['order', 'byte order'],
  ['value', 'value'],
  ['min', 'minimum'],
  ['max', 'maximum'],
  ['bit', 'bit'],
  ['slave', 'unit identifier'],
  ['description', 'description'],
  ['rawLow', 'raw low'],
  ['rawHigh', 'raw high'],
  ['scaledLow', 'scaled low'],
  ['scaledHigh', 'scaled high'],
];

/** Adds to what is said; an empty text takes it back. */
export function saidOf(before: ImportChoices, change: Readonly<Record<string, unknown>>): ImportChoices {
  const all = Object.entries<unknown>({ ...before, ...change });
  return Object.fromEntries(all.filter(([, value]) => value !== ''));
}

const COLUMNS = ['address', 'name', 'type', 'value', 'scale', 'unit'] as const;

/** The registers of a device, a row of texts each. */
export function registersOf({ unit, entry }: Imported['devices'][number]): string[][] {
  const tables = Object.entries(
    (entry.registers ?? {}) as Record<string, readonly Record<string, unknown>[]>,
  );
  return tables.flatMap(([table, entries]) =>
    entries.map((each) => [
      ...[String(unit), table],
      ...COLUMNS.map((key) => String(each[key] ?? (key === 'type' ? 'bit' : ''))),
      each.write === true ? 'read, write' : 'read',
    ]),
  );
}

/** Lines for devices: a further one for each device whose unit identifier is taken on those before. */
export function linesFor(
  devices: Imported['devices'],
  name: string,
  port: string,
): { readonly name: string; readonly tcp: object; readonly units: Readonly<Record<number, string>> }[] {
  const lines: Record<number, string>[] = [];
  for (const device of devices) {
    const free = lines.find((units) => units[device.unit] === undefined);
    if (free) free[device.unit] = device.name;
    else lines.push({ [device.unit]: device.name });
  }
  const first = Number(port);
  return lines.map((units, i) => ({
    name: i === 0 ? name : `${name}-${i + 1}`,
    tcp: { host: '127.0.0.1', port: first === 0 ? 0 : first + i },
    units,
  }));
}
