import type { DeviceView } from '../../simulator/commands/schemas/device.js';
import type { RegisterView, Words } from '../../simulator/commands/schemas/value.js';
import {
  memberOf,
  merge,
  type RecordedDevice,
  type RecordedTables,
  type RecordedValue,
} from '../../testing/report/recorded-registers.js';

/** The answer to a request below `/devices` from the content of a file; a text says why there is none. */
export function answeredAbout(
  recorded: readonly RecordedDevice[],
  path: readonly string[],
  query: URLSearchParams,
): object | string | undefined {
  const [name, what] = path.map(decodeURIComponent);
  if (name === undefined) return { devices: [...new Map(recorded.map(viewByName)).values()] };
  // A scenario may have the same device as the one before it.
  const runs = recorded.filter(({ device }) => device.name === name);
  const last = runs.at(-1);
  if (!last) return undefined;
  if (what === undefined) return last.device;
  const table = (query.get('table') ?? 'holding') as Words['table'];
  const range = { table, from: Number(query.get('from') ?? 0), to: Number(query.get('to') ?? 0) };
  if (what === 'registers') {
    const names = query.get('names');
    const found = valuesOf(registersAt(last)).filter((value) =>
      names === null ? isIn(value, range) : value.name === names,
    );
    return found.length > 0 || names === null ? { registers: found } : `${name} has no value named ${names}.`;
  }
  if (what !== 'words') return undefined;
  const at = query.get('at');
  if (at === null) return wordsIn(last, range);
  const time = withMicros(at);
  const run = runs.findLast(({ states }) => (states.at(-1)?.at ?? '') <= time);
  if (run) return { ...wordsIn(run, range, time), past: pastOf(run, range, time) };
  return `This file has the registers of ${name} only from ${runs[0]?.states.at(-1)?.at} on.`;
}

const viewByName = ({ device }: RecordedDevice): [string, DeviceView] => [device.name, device];

/** Gives a time six digits after the second, so that it can be compared with recorded times. */
function withMicros(time: string): string {
  const [, second = '', fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(time) ?? [];
  return `${second}.${fraction.padEnd(6, '0').slice(0, 6)}Z`;
}

/** The registers at a time; without a time, at the end. */
function registersAt({ states }: RecordedDevice, time?: string): RecordedTables {
  const registers: RecordedTables = {};
  for (const { at, registers: difference } of states) {
    merge(registers, difference);
    if (time === undefined || at <= time) break;
  }
  return registers;
}

interface AskedRange {
  readonly table: Words['table'];
  readonly from: number;
  readonly to: number;
}

function isIn(value: RecordedValue, { table, from, to }: AskedRange): boolean {
  return value.table === table && value.address <= to && value.address + value.registers > from;
}

/** A value of which nothing is known. The counters are never known. */
const UNKNOWN: RegisterView = {
  ...{ table: 'holding', address: 0, registers: 1, name: null, value: null, raw: 0, unit: null },
  ...{ type: 'uint16', available: true, writable: false, description: null, label: null, bits: null },
  ...{ violates: null, signal: null, trouble: null, action: null },
  ...{ reads: 0, writes: 0, lastWriter: null, saturated: 0 },
};

/** The known values of all tables, in the form of REST. */
function valuesOf(registers: RecordedTables): RegisterView[] {
  return Object.values(registers).flatMap(({ values = {} }) =>
    Object.values(values).flatMap((value) => (value ? [{ ...UNKNOWN, ...value }] : [])),
  );
}

function wordsIn(recorded: RecordedDevice, range: AskedRange, time?: string): Words {
  const { power, clock, tables } = recorded.device;
  const { table, from, to } = range;
  const registers = registersAt(recorded, time);
  const { bits = 16, words = {}, access = {} } = memberOf(registers, table) ?? {};
  const count = Math.max(0, Math.min(to + 1, memberOf(tables, table) ?? 0) - from);
  const addresses = Array.from({ length: count }, (_, i) => from + i);
  return {
    ...{ power, clock, table, from, bits },
    words: addresses.map((address) => words[address] ?? null),
    access: addresses.map((address) => access[address] ?? '-').join(''),
    values: valuesOf(registers).filter((value) => isIn(value, range)),
  };
}

/** The writes around a time. */
function pastOf({ states }: RecordedDevice, { table, from, to }: AskedRange, time: string): Words['past'] {
  const writes = states.filter(({ replaced }) => replaced);
  const last = writes.find(({ at }) => at <= time);
  return {
    at: time,
    ...{ since: states.at(-1)?.at ?? '', why: 'full' },
    changed: last?.at ?? null,
    before: (last?.replaced ?? []).flatMap(([of, address, word]) =>
      of === table && address >= from && address <= to ? [[address, word]] : [],
    ),
    previous: writes.find(({ at }) => at < time)?.at ?? null,
    next: writes.findLast(({ at }) => at > time)?.at ?? null,
  };
}
