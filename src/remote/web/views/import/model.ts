import type { ImportedView, ImportRequest } from '../../../../simulator/commands/schemas/imported.js';

export type Imported = ImportedView;

/** The user's choices about a file: the meaning of its columns, addresses and defaults. */
export type ImportChoices = Pick<ImportRequest, 'columns' | 'base' | 'table' | 'defaults'>;

/** The meanings of a column that the user can choose. */
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

/** Adds a choice; an empty text removes it. */
export function saidOf(before: ImportChoices, change: Readonly<Record<string, unknown>>): ImportChoices {
  const all = Object.entries<unknown>({ ...before, ...change });
  return Object.fromEntries(all.filter(([, value]) => value !== ''));
}

const COLUMNS = ['address', 'name', 'type', 'value', 'scale', 'unit'] as const;

/** The registers of a device, each as a row of texts. */
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

/** Lines for devices: another one for each device whose unit identifier is taken on the previous lines. */
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
