import { computed, signal } from '@preact/signals';
import type { DeviceView } from '../../../control/schemas/device.js';
import type { Words } from '../../../control/schemas/value.js';
import { hrefOf, place } from '../../route.js';
import { devices } from './devices.js';
import { FORMATS, type Format } from './formats.js';
import { Known } from './known.js';
import { columnsFor, ROW_HEIGHT } from './layout.js';

export type Table = Words['table'];

export const TABLES: readonly Table[] = ['coils', 'discrete', 'input', 'holding'];

/** What the address of the page means; undefined before the devices are known, or where it means nothing. */
export const target = computed<{ readonly device: DeviceView; readonly table: Table } | undefined>(() => {
  const [name, wanted] = place.value.parts;
  const device = devices.value?.find((each) => each.name === name);
  const table = TABLES.find((each) => each === wanted);
  return device && table && { device, table };
});

export const size = computed(() => target.value?.device.tables[target.value.table] ?? 0);

/** What was last read of the table. `version` differs after each reading. */
export let known = new Known();
export const version = signal(0);

/** The supply and the clock of the device, as the last answer had them. */
export const machine = signal<Pick<Words, 'supply' | 'clock'> | undefined>(undefined);

/** Forgets what was read: another table is shown, or the simulator was started anew. */
export function forget(): void {
  known = new Known();
  machine.value = undefined;
  version.value++;
}

const isOfBits = computed(() => target.value?.table === 'coils' || target.value?.table === 'discrete');

export const format = computed<Format>(() => {
  const wanted = place.value.query.get('as') ?? '';
  return wanted in FORMATS ? (wanted as Format) : 'unsigned';
});

/** What is seen of the grid, in CSS pixels. */
export const viewport = signal({ top: 0, width: 0, height: 0 });

export const columns = computed(() => {
  // The width of an address is known with the first answer.
  const bits = version.value > 0 && known.bits === 1 && isOfBits.value ? 1 : 16;
  return columnsFor(format.value, bits, viewport.value.width);
});

const HEADER_ROWS = 1;

/** Rows that fit on the screen, without the header. */
export const rowsOfPage = computed(() =>
  Math.max(1, Math.floor(viewport.value.height / ROW_HEIGHT) - HEADER_ROWS),
);

/** The rows that exist: those that are seen, as a text that changes only with them. */
const rowRange = computed(() => {
  const rows = Math.ceil(size.value / columns.value);
  const first = Math.min(Math.floor(viewport.value.top / ROW_HEIGHT), Math.max(0, rows - 1));
  return `${first} ${Math.min(rows, first + rowsOfPage.value + 2)}`;
});

export const visibleRows = computed(() => {
  const [first = 0, end = 0] = rowRange.value.split(' ').map(Number);
  return { first, end };
});

/** Addresses that are seen. */
export const visible = computed(() => ({
  from: visibleRows.value.first * columns.value,
  end: Math.min(visibleRows.value.end * columns.value, size.value),
}));

/** The register that keys act on, and where the range of registers that Ctrl-C copies begins. */
export const selected = signal(0);
export const anchor = signal(0);

/** The cell that is edited, and why it was refused. */
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
  const { parts, query } = place.peek();
  const { device = parts[0] ?? '', table = parts[1] ?? '', as, from } = change;
  const next = new URLSearchParams(query);
  if (as !== undefined) next.set('as', as);
  const isElsewhere = change.device !== undefined || change.table !== undefined;
  const first = from ?? (isElsewhere ? 0 : selected.peek());
  if (first > 0) next.set('from', String(first));
  else next.delete('from');
  const text = next.toString();
  return `${hrefOf('registers', device, table)}${text === '' ? '' : `?${text}`}`;
}
