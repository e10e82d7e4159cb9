import { computed, signal } from '@preact/signals';
import { pathOf } from '../../../../common/rest-client/client.js';
import type { DeviceView } from '../../../../simulator/commands/schemas/device.js';
import type { Words } from '../../../../simulator/commands/schemas/value.js';
import { summary } from '../../live.js';
import { resource } from '../../resource.js';
import { hrefOf, route } from '../../route.js';
import { together } from '../../ui/element.js';
import { FORMATS, type Format } from './formats.js';
import { columnsFor, Known, ROW_HEIGHT, rowStartsOf } from './layout.js';

export type WordTable = Words['table'];

export const TABLES: readonly WordTable[] = ['coils', 'discrete', 'input', 'holding'];

/** Changes when devices are added or removed, or move to other lines or units. */
const lineUp = () =>
  summary.value && [
    summary.value.devices.edition,
    summary.value.lines.map(({ name, edition }) => [name, edition]),
  ];

/** The devices with their tables, lines and names. */
export const devices = resource(
  () => '/devices',
  (body: { readonly devices: readonly DeviceView[] }) => body.devices,
  lineUp,
);

/** The device in the address; without one, the first device that a line serves. */
const deviceName = computed(() => route.value.parts[0] ?? usualDevice(devices.current.value)?.name);

/** The default device: the first one that a line serves, or the first of all. */
export function usualDevice(all: readonly DeviceView[] = []): DeviceView | undefined {
  return all.find(({ lines }) => Object.keys(lines).length > 0) ?? all[0];
}

/** That device, with the addresses that it defines. */
const single = resource(
  () => pathOf('devices', deviceName.peek() ?? ''),
  (device: DeviceView) => device,
  () => deviceName.value && [deviceName.value, lineUp()],
);

/** Reads the devices whenever they may have changed, until the returned function is called. */
export function followDevices(): () => void {
  return together(devices.follow(), single.follow());
}

/** The addresses that the device defines; undefined until they are known. */
export const defined = computed(() => {
  const device = single.current.value;
  return device?.name === deviceName.value ? device?.defined : undefined;
});

/** The device and table in the address; undefined until the devices are known, or if they do not exist. */
export const target = computed<{ readonly device: DeviceView; readonly table: WordTable } | undefined>(() => {
  const [name, wanted] = route.value.parts;
  const device = devices.current.value?.find((each) => each.name === name);
  const table = TABLES.find((each) => each === wanted);
  return device && table && { device, table };
});

export const size = computed(() => target.value?.device.tables[target.value.table] ?? 0);

/** The registers as last read. `version` changes with each read. */
export let known = new Known();
export const version = signal(0);

/** The power and the clock of the device in the last answer. */
export const machine = signal<Pick<Words, 'power' | 'clock'> | undefined>(undefined);

/**
 * Whether any answer about this table contained values with several registers or a name. It is remembered,
 * because the first answer may have none by chance.
 */
const hasValues = signal(false);

/** Stores an answer. */
export function learn(words: Words): void {
  if (words.values.length > 0) hasValues.value = true;
  known.take(words);
  machine.value = { power: words.power, clock: words.clock };
}

/** What the last write before the time shown has changed: the registers before it. */
export let before: { readonly known: Known; readonly changed: ReadonlySet<number> } | undefined;

export function learnBefore(words: readonly Words[], changed: readonly (readonly [number, number])[]): void {
  const known = new Known();
  for (const each of words) known.take(each);
  before = changed.length > 0 ? { known, changed: new Set(changed.map(([address]) => address)) } : undefined;
}

/** Discards what was read, because another table is shown or the simulator was restarted. */
export function forget(): void {
  known = new Known();
  before = undefined;
  machine.value = undefined;
  hasValues.value = false;
  version.value++;
}

const isOfBits = computed(() => target.value?.table === 'coils' || target.value?.table === 'discrete');

/** The format in the address. Without one, `values` if the table has some, otherwise numbers. */
export const format = computed<Format>(() => {
  const wanted = route.value.query.get('as') ?? '';
  if (wanted in FORMATS) return wanted as Format;
  return hasValues.value ? 'values' : 'unsigned';
});

/** The visible part of the grid, in CSS pixels. */
export const viewport = signal({ top: 0, width: 0, height: 0 });

export const columns = computed(() => {
  // The number of bits per address is known from the first answer on.
  const bits = version.value > 0 && known.bits === 1 && isOfBits.value ? 1 : 16;
  return columnsFor(format.value, bits, viewport.value.width);
});

/** The first address of each row. There are no rows without defined registers. */
export const rowStarts = computed(() =>
  rowStartsOf(defined.value?.[target.value?.table ?? '']?.ranges ?? [], columns.value),
);

const HEADER_ROWS = 1;

/** Number of rows that fit on the screen, without the header. */
export const rowsOfPage = computed(() =>
  Math.max(1, Math.floor(viewport.value.height / ROW_HEIGHT) - HEADER_ROWS),
);

/** The drawn rows, as text that changes only with them. */
const rowRange = computed(() => {
  const rows = rowStarts.value.length;
  const first = Math.min(Math.floor(viewport.value.top / ROW_HEIGHT), Math.max(0, rows - 1));
  return `${first} ${Math.min(rows, first + rowsOfPage.value + 2)}`;
});

export const visibleRows = computed(() => {
  const [first = 0, end = 0] = rowRange.value.split(' ').map(Number);
  return { first, end };
});

/** The first addresses of the drawn rows. */
export const visibleStarts = computed(() =>
  rowStarts.value.slice(visibleRows.value.first, visibleRows.value.end),
);

/** The first and last visible address. There may be invisible addresses in between. */
export const visible = computed(() => {
  const starts = visibleStarts.value;
  return { from: starts[0] ?? 0, end: Math.min((starts.at(-1) ?? 0) + columns.value, size.value) };
});

/** The register that keys act on, and the other end of the range that Ctrl-C copies. */
export const selected = signal(0);
export const anchor = signal(0);

/** The cell being edited, and why its text was rejected. */
export const editing = signal<{ readonly address: number; readonly text: string } | undefined>(undefined);
export const refusal = signal<{ readonly address: number; readonly text: string } | undefined>(undefined);

/** The address of the view with another device, table, format or first register. */
export function addressOf(
  change: Partial<{
    readonly device: string;
    readonly table: string;
    readonly as: string;
    readonly from: number;
  }>,
): string {
  const { parts, query } = route.peek();
  const { device = parts[0] ?? '', table = parts[1] ?? '', as, from } = change;
  const next = new URLSearchParams(query);
  if (as !== undefined) next.set('as', as);
  const isElsewhere = change.device !== undefined || change.table !== undefined;
  const first = from ?? (isElsewhere ? 0 : selected.peek());
  if (first > 0) next.set('from', String(first));
  else next.delete('from');
  return hrefOf('registers', [device, table], next);
}
