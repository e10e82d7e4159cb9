import { TABLE_NAMES, type TableName } from '../device/tables.js';
import type { LineSource } from './configuration.js';
import { mergedSource } from './native/line-source.js';
import { fileText } from './print.js';

/**
 * The files that import, clone and learn write have the same structure: comments, devices, their lines, and
 * the rules that make the devices answer like the originals.
 */

/** A line in a written file. TCP lines get ports 5020, 5021 and so on; `rtu` and `ascii` are virtual serial lines. */
export interface WrittenLine {
  readonly name: string;
  readonly kind: 'tcp' | 'rtu' | 'ascii';
  /** The path of a real serial port; if absent, the line is virtual. */
  readonly path?: string;
  /** `*` stands for every unit identifier; Modbus TCP only. */
  readonly units: Iterable<readonly [unit: number | '*', device: string]>;
  /** True if a missing unit does not answer; Modbus TCP only. */
  readonly isSilent?: boolean;
  readonly settings?: LineSource;
}

export interface NativeFile {
  /** Notes for the user, one line of text each. They are comments at the top. */
  readonly remarks: readonly string[];
  readonly devices: Iterable<readonly [name: string, entry: object]>;
  readonly lines: readonly WrittenLine[];
  readonly faults?: readonly object[];
  /** The TCP port of the first line (default: 5020). */
  readonly firstPort?: number;
}

const FIRST_PORT = 5020;
/** Maximum registers per list, so that a line of the file stays readable. */
const LIST_LENGTH = 16;

/** Returns the text of a native file. */
export function nativeText({
  remarks,
  devices,
  lines,
  faults = [],
  firstPort = FIRST_PORT,
}: NativeFile): string {
  const content = {
    devices: Object.fromEntries(devices),
    lines: Object.fromEntries(
      lines.map(({ name, kind, path = 'virtual', units, isSilent, settings = {} }, i) => {
        const line = {
          ...(kind === 'tcp'
            ? { tcp: { host: '127.0.0.1', port: firstPort + i } }
            : { serial: { path }, ...(kind === 'ascii' && { framing: 'ascii' }) }),
          ...(isSilent && { missingUnit: 'silence' }),
        };
        return [name, { ...mergedSource(line, settings), units: Object.fromEntries(units) }];
      }),
    ),
    ...(faults.length > 0 && { faults }),
  };
  return fileText(content, remarks);
}

/** Returns the tables of a device that have entries, in the usual order of tables. */
export function registersOf<Entry>(
  entriesOf: (table: TableName) => readonly Entry[] | undefined,
): Record<string, readonly Entry[]> {
  return Object.fromEntries(
    TABLE_NAMES.flatMap((table) => {
      const entries = entriesOf(table) ?? [];
      return entries.length > 0 ? [[table, entries]] : [];
    }),
  );
}

/** Adjacent registers of which only the values are known. */
type ValueList = { readonly address: number; readonly value: number | readonly number[] };

/** Returns lists of adjacent registers of a table. @param values by address, in ascending order */
export function valueLists(values: Iterable<readonly [address: number, value: number]>): ValueList[] {
  const lists: { address: number; value: number[] }[] = [];
  for (const [address, value] of values) {
    const last = lists.at(-1);
    const continues = last && last.value.length < LIST_LENGTH && last.address + last.value.length === address;
    if (continues) last.value.push(value);
    else lists.push({ address, value: [value] });
  }
  return lists.map(({ address, value }) => ({
    address,
    value: value.length === 1 ? (value[0] as number) : value,
  }));
}

/**
 * Returns the rule that delays the replies of a device like the real one.
 * @param ms the usual time
 * @param jitter by how much the time varies, in ms
 */
export function delayRule(device: string, ms: number, jitter: number): object {
  return { name: `${device}-reply-time`, when: { device }, do: [{ delay: { ms, jitter } }] };
}

const MOST_IN_COMMENT = 20;

/** Lists texts for a comment in a file. Texts after the twentieth are only counted. */
export function listed(texts: readonly (string | number)[]): string {
  const more = texts.length > MOST_IN_COMMENT ? ` and ${texts.length - MOST_IN_COMMENT} more` : '';
  return texts.slice(0, MOST_IN_COMMENT).join(', ') + more;
}
