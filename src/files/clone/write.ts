import { valueOfWords } from '../../device/registers/value.js';
import { cellsOf, type ImportedDevice, type ImportedValue } from '../import/collected.js';
import { delayRule, nativeText, registersOf, valueLists } from '../import/native-file.js';
import type { ReadRefusal } from './asker.js';
import type { ClonedDevice } from './cloned-device.js';
import { guessesOf } from './guess.js';
import { remarksOf } from './remarks.js';
import type { DeviceSurvey } from './survey.js';
import { READ_FUNCTIONS, type TableSurvey } from './table-survey.js';

export interface Clone {
  /** The address of the devices that were read. */
  readonly from: string;
  readonly notRead: string;
  readonly devices: readonly ClonedDevice[];
}

const IDENTITY_KEYS = [
  'vendorName',
  'productCode',
  'majorMinorRevision',
  'vendorUrl',
  'productName',
  'modelName',
  'userApplicationName',
];
const FIRST_EXTENDED = 0x80;
/**
 * The shortest delay that is written, in ms. A shorter one is lost in the time that the program itself takes.
 */
const SHORTEST_DELAY = 1;

/** Writes the devices as a native file in block style. What is not certain stands there as a comment. */
export function writeClone({ from, notRead, devices }: Clone): string {
  return nativeText({
    remarks: [
      `Written by modbus-sim clone from ${from}: read only, nothing was written to it.`,
      'Nobody tried what may be written: all is read-only here. Add write: true where a client writes.',
      notRead,
      ...devices.flatMap((each) => remarksOf(each).map((line) => `Unit ${each.unit}: ${line}`)),
    ],
    devices: devices.map((each) => [nameOf(each), entryOf(each)]),
    lines: [{ name: 'lan', kind: 'tcp', units: devices.map((each) => [each.unit, nameOf(each)]) }],
    faults: devices.flatMap(rulesOf),
  });
}

function nameOf({ unit }: ClonedDevice): string {
  return `unit-${unit}`;
}

function entryOf(device: ClonedDevice): Record<string, unknown> {
  const { survey, map } = device;
  const identity = Object.entries(identityOf(survey.identity));
  const serverId = serverIdOf(survey.serverId);
  const manners = mannersOf(survey);
  return {
    ...(identity.length > 0 && { identity: Object.fromEntries(identity) }),
    ...(serverId && { serverId }),
    registers: registersOf((name) => {
      const table = survey.tables.find((each) => each.table === name);
      return table && entriesOf(table, survey, map);
    }),
    ...(Object.keys(manners).length > 0 && { manners }),
  };
}

function identityOf(objects: ReadonlyMap<number, string>): Record<string, unknown> {
  const isText = (text: string) => /^[\x20-\x7e]{0,244}$/.test(text);
  const known = [...objects].filter(([, text]) => isText(text));
  const named = known.flatMap(([id, text]) => {
    const key = IDENTITY_KEYS[id];
    return key === undefined ? [] : [[key, text] as const];
  });
  const extended = known.filter(([id]) => id >= FIRST_EXTENDED);
  return {
    ...Object.fromEntries(named),
    ...(extended.length > 0 && { extended: Object.fromEntries(extended) }),
  };
}

/**
 * Reads the identifier of the reply to function 17. The identifier ends before the run indicator: 00 or FF
 * (Application Protocol V1.1b3, 6.13).
 */
function serverIdOf(data: Uint8Array | undefined): Record<string, unknown> | undefined {
  if (!data) return undefined;
  const at = data.findIndex((byte, i) => i > 0 && (byte === 0xff || byte === 0));
  const additional = Buffer.from(data.subarray(at + 1)).toString('latin1');
  if (at < 1 || at > 64 || !/^[\x20-\x7e]{0,180}$/.test(additional)) return undefined;
  const id = [...data.subarray(0, at)];
  return {
    id: id.length === 1 ? id[0] : id,
    running: data[at] === 0xff,
    ...(additional !== '' && { additional }),
  };
}

function mannersOf({ tables, pauseBefore }: DeviceSurvey): Record<string, unknown> {
  const registers = tables.find(({ table, limit }) => limit && READ_FUNCTIONS[table] > 2)?.limit;
  const bits = tables.find(({ table, limit }) => limit && READ_FUNCTIONS[table] < 3)?.limit;
  const refused = new Set(
    tables.flatMap((table) => (table.values.size > 0 ? [...table.refusals.keys()] : [])),
  );
  const otherwise = (registers ?? bits)?.otherwise;
  return {
    ...(otherwise !== undefined && {
      most: {
        ...(registers && { registers: registers.quantity }),
        ...(bits && { bits: bits.quantity }),
        otherwise,
      },
    }),
    ...(refused.has('silence') && refused.size === 1 && { holes: 'silence' }),
    ...(pauseBefore > 0 && { pauseBefore }),
  };
}

type NativeEntry = Readonly<Record<string, unknown>> & { readonly address: number };

/** Writes registers with a name first, then those with a guess, then the rest as lists. */
function entriesOf(
  table: TableSurvey,
  { moved }: DeviceSurvey,
  map: ImportedDevice | undefined,
): NativeEntry[] {
  const rest = new Map(table.values);
  const entries: NativeEntry[] = [];
  const take = (address: number, cells: number): number[] | undefined => {
    const words = Array.from({ length: cells }, (_, i) => rest.get(address + i));
    if (words.some((word) => word === undefined)) return undefined;
    for (let i = 0; i < cells; i++) rest.delete(address + i);
    return words as number[];
  };
  for (const value of map?.values ?? []) {
    const named = value.table === table.table ? namedEntry(value, take) : undefined;
    if (named) entries.push(named);
  }
  for (const { why, ...guess } of guessesOf({ table: table.table, values: rest }, moved.get(table))) {
    take(guess.address, guess.length ?? 2);
    entries.push({ ...guess, description: `guessed: ${why}` });
  }
  entries.push(...valueLists([...rest].sort(([a], [b]) => a - b)));
  return entries.sort((a, b) => a.address - b.address);
}

/** Writes a value that a file names, with what was read; undefined when the value was not read. */
function namedEntry(
  value: ImportedValue,
  take: (address: number, cells: number) => number[] | undefined,
): NativeEntry | undefined {
  const { location, part, table, value: _, type, write: __, ...entry } = value;
  if (part !== undefined) return undefined;
  const words = take(value.address, cellsOf(value));
  if (!words) return undefined;
  const isBit = table === 'coils' || table === 'discrete';
  const { wordOrder = 'big', byteOrder = 'big' } = value;
  const read = isBit ? words[0] : valueOfWords(type, words, { wordOrder, byteOrder });
  return {
    ...entry,
    ...(!isBit && { type }),
    value: typeof read === 'bigint' ? read.toString() : read,
  };
}

function rulesOf(device: ClonedDevice): object[] {
  const { survey, replyTime } = device;
  const name = nameOf(device);
  const refusing = (code: number, refusal: ReadRefusal) => ({
    name: `${name}-function-${code}`,
    when: { device: name, function: code },
    do: [refusal === 'silence' ? { silence: true } : { exception: refusal }],
  });
  const late = replyTime && replyTime.median >= SHORTEST_DELAY;
  return [
    ...survey.tables.flatMap(({ table, unsupported }) =>
      unsupported === undefined ? [] : [refusing(READ_FUNCTIONS[table], unsupported)],
    ),
    ...[...survey.refused].map(([code, refusal]) => refusing(code, refusal)),
    ...(late ? [delayRule(name, replyTime.median, replyTime.jitter)] : []),
  ];
}
