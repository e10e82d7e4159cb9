import { FIRST_EXTENDED_OBJECT, IDENTITY_NAMES } from '../../device/identification.js';
import { valueOfWords } from '../../device/registers/value.js';
import { delayRule, registersOf, valueLists, type WrittenLine } from '../../document/native-file.js';
import { cellsOf, type ImportedDevice, type ImportedValue } from '../../document/register-map.js';
import { ExceptionCode, FunctionCode } from '../../modbus/protocol/function-code.js';
import type { ReadRefusal, Taken } from './asker.js';
import { guessesOf } from './guess.js';
import { remarksOf } from './remarks.js';
import type { ClonedDevice, DeviceSurvey } from './survey.js';
import { type Range, READ_FUNCTIONS, runsOf, type TableSurvey } from './table-survey.js';
import { writableText } from './writable.js';

export interface Clone {
  /** The address of the devices that were read. */
  readonly from: string;
  readonly notRead: string;
  readonly devices: readonly ClonedDevice[];
  /** The line that serves the devices; default: Modbus TCP. */
  readonly line?: Partial<Pick<WrittenLine, 'kind' | 'isSilent' | 'settings'>>;
  /** True if the device answers every unit identifier. */
  readonly isAnyUnit?: boolean;
}

/** The shortest delay written to the file, in ms. A shorter one disappears in the program's own response time. */
const SHORTEST_DELAY = 1;

/** Writes the devices as a native file. Uncertain parts become comments. */
export function writeClone({ from, notRead, devices, line = {}, isAnyUnit = false }: Clone): string {
  const isTested = devices.some(({ tested }) => tested !== undefined);
  return writableText({
    remarks: [
      ...(isTested
        ? [
            `Written by modbus-sim test-server from ${from}: the device as found, with its deviations.`,
            'Addresses outside --scratch are marked read-only because writing them was not tried: consider this with --map.',
            'Add write: true where a client writes.',
            notRead,
          ]
        : [
            `Written by modbus-sim clone from ${from}, which was only read.`,
            'Writing was not tried, so all values are read-only here. Add write: true where a client writes.',
            notRead,
            'Functions 20 to 24 and unassigned ones were not tried, so the rules refuse them.',
          ]),
      ...devices.flatMap((each) => remarksOf(each).map((line) => `Unit ${each.unit}: ${line}`)),
    ],
    devices: devices.map((each) => [nameOf(each), entryOf(each)]),
    lines: [
      {
        ...{ name: line.kind === undefined || line.kind === 'tcp' ? 'lan' : 'bus', kind: 'tcp', ...line },
        units: devices.flatMap((each) => [
          [each.unit, nameOf(each)] as const,
          ...(isAnyUnit ? [['*', nameOf(each)] as const] : []),
        ]),
      },
    ],
    faults: devices.flatMap(rulesOf),
  });
}

function nameOf({ unit }: ClonedDevice): string {
  return `unit-${unit}`;
}

function entryOf(device: ClonedDevice): Record<string, unknown> {
  const { survey, map, tested } = device;
  const identity = identityOf(survey);
  const serverId = serverIdOf(survey.serverId);
  const manners = { ...mannersOf(survey), ...tested?.manners };
  return {
    ...(identity && { identity }),
    ...(serverId && { serverId }),
    registers: registersOf((name) => {
      const table = survey.tables.find((each) => each.table === name);
      return table && entriesOf(table, survey, map, tested?.writable[name]);
    }),
    ...(Object.keys(manners).length > 0 && { manners }),
  };
}

/**
 * The identification objects. The three mandatory ones are empty if this device did not send them, so that
 * the clone does not send those of this program. Undefined if the device lacks the function.
 */
function identityOf({ identity, refused }: DeviceSurvey): Record<string, unknown> | undefined {
  if (refused.has(FunctionCode.encapsulatedInterfaceTransport)) return undefined;
  const isText = (text: string) => /^[\x20-\x7e]{0,244}$/.test(text);
  const known = [...identity].filter(([, text]) => isText(text));
  const named = known.flatMap(([id, text]) => {
    const key = IDENTITY_NAMES[id];
    return key === undefined ? [] : [[key, text] as const];
  });
  const extended = [...identity]
    .filter(([id]) => id >= FIRST_EXTENDED_OBJECT)
    .map(([id, text]) => [id, isText(text) ? text : { bytes: Buffer.from(text, 'latin1').toString('hex') }]);
  return {
    ...Object.fromEntries(IDENTITY_NAMES.slice(0, 3).map((key) => [key, ''])),
    ...Object.fromEntries(named),
    ...(extended.length > 0 && { extended: Object.fromEntries(extended) }),
  };
}

/**
 * Extracts the identifier from the reply to function 17. It ends before the run indicator: 00 or FF
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
  const limited = (isOfBits: boolean) =>
    tables.find(({ isBits, block }) => isBits === isOfBits && block.otherwise !== undefined)?.block;
  const [registers, bits] = [limited(false), limited(true)];
  const refused = new Set(
    tables.flatMap((table) => (table.values.size > 0 ? [...table.refusals.keys()] : [])),
  );
  const otherwise = (registers ?? bits)?.otherwise;
  return {
    ...(otherwise !== undefined && {
      most: {
        ...(registers && { registers: registers.most }),
        ...(bits && { bits: bits.most }),
        otherwise,
      },
    }),
    ...(refused.size === 1 && holesOf([...refused][0])),
    ...(tables.some(({ wholes }) => wholes.size > 0) && { wholeValues: true }),
    ...(pauseBefore > 0 && { pauseBefore }),
  };
}

/** The answer to reads of registers that do not exist, if it is not exception 02. */
function holesOf(refusal: ReadRefusal | undefined): { holes?: 'silence' | { exception: number } } {
  if (refusal === 'silence') return { holes: refusal };
  return refusal === undefined || refusal === ExceptionCode.illegalDataAddress
    ? {}
    : { holes: { exception: refusal } };
}

type NativeEntry = Readonly<Record<string, unknown>> & { readonly address: number };

/** Writes named registers first, then those with a guess, then the rest as lists. */
function entriesOf(
  table: TableSurvey,
  { moved }: DeviceSurvey,
  map: ImportedDevice | undefined,
  writable: Range = [0, -1],
): NativeEntry[] {
  const isWritable = (address: number) => address >= writable[0] && address <= writable[1];
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
  for (const [address, length] of table.wholes) {
    const words = take(address, length);
    if (words) entries.push(wholeEntry(address, words));
  }
  for (const { why, ...guess } of guessesOf({ table: table.table, values: rest }, moved.get(table))) {
    take(guess.address, guess.length ?? 2);
    entries.push({ ...guess, description: `guessed: ${why}` });
  }
  const sorted = [...rest].sort(([a], [b]) => a - b);
  for (const write of [true, false])
    entries.push(...valueLists(sorted.filter(([address]) => isWritable(address) === write)));
  return entries
    .map((entry) => (isWritable(entry.address) ? { ...entry, write: true } : entry))
    .sort((a, b) => a.address - b.address);
}

/** Writes a value of several registers that the device refuses to read in part. */
function wholeEntry(address: number, words: number[]): NativeEntry {
  const type = words.length === 2 ? 'uint32' : 'uint64';
  const value = valueOfWords(type, words, { wordOrder: 'big', byteOrder: 'big' });
  return {
    address,
    type,
    value: typeof value === 'bigint' ? value.toString() : value,
    description: `guessed: ${words.length} registers, refused in part`,
  };
}

/** Writes a value named in a file, with what was read; undefined if it was not read. */
function namedEntry(
  value: ImportedValue,
  take: (address: number, cells: number) => number[] | undefined,
): NativeEntry | undefined {
  const { location, part, table, value: _, type, write: __, limits: ___, ...entry } = value;
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

/** Functions that this program has and a clone does not try: they could change something, or are rare. */
const NOT_ASKED = [20, 21, 22, 23, 24];
/** Functions that a clone answers from its registers and what was read. The others are refused. */
const KNOWN = [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 15, 16, 17, 43];

/**
 * The rule that refuses functions that were not tried, in the way in which the device refuses functions that
 * it lacks. A function that was probed and that the device has is not refused.
 */
function notAskedRule(name: string, { survey: { refused, probed }, tested }: ClonedDevice): object[] {
  const ways = new Set(refused.values());
  const isSilent = ways.size === 1 && ways.has('silence');
  const way = tested?.unknownFunction ?? (isSilent ? 'silence' : ExceptionCode.illegalFunction);
  const all =
    way === ExceptionCode.illegalFunction
      ? NOT_ASKED
      : Array.from({ length: 127 }, (_, i) => i + 1).filter((code) => !KNOWN.includes(code));
  const isThere = (taken: Taken | undefined) =>
    taken?.kind === 'data' || (taken?.kind === 'exception' && taken.code !== ExceptionCode.illegalFunction);
  const codes = all.filter((code) => !isThere(probed.get(code)) && !tested?.functions.has(code));
  if (codes.length === 0) return [];
  return [
    {
      name: `${name}-not-asked`,
      when: { device: name, function: rangesOf(codes) },
      do: [doneBy(way)],
    },
  ];
}

/** The rules that refuse quantities outside the specification in the device's way. */
function wrongQuantityRules(name: string, { tables }: DeviceSurvey): object[] {
  const groups = new Map<string, { quantity: string; refusal: ReadRefusal; codes: number[] }>();
  for (const { table, wrongQuantities } of tables)
    for (const [quantity, refusal] of wrongQuantities) {
      const key = `${quantity} ${refusal}`;
      const group = groups.get(key) ?? { quantity, refusal, codes: [] };
      groups.set(key, group);
      group.codes.push(READ_FUNCTIONS[table]);
    }
  return [...groups.values()].map(({ quantity, refusal, codes }, i) => ({
    name: `${name}-wrong-quantity-${i + 1}`,
    when: { device: name, function: codes, quantity: /^\d+$/.test(quantity) ? Number(quantity) : quantity },
    do: [doneBy(refusal)],
  }));
}

/** The action of a rule that refuses a request in the device's way. */
function doneBy(refusal: ReadRefusal): object {
  return refusal === 'silence' ? { silence: true } : { exception: refusal };
}

/** Formats ascending numbers as a list of numbers and ranges. */
function rangesOf(numbers: readonly number[]): (number | string)[] {
  return runsOf(new Map(numbers.map((each) => [each, each]))).map(({ start, length }) =>
    length === 1 ? start : `${start}-${start + length - 1}`,
  );
}

function rulesOf(device: ClonedDevice): object[] {
  const { survey, replyTime, tested } = device;
  const name = nameOf(device);
  const refusing = (code: number, refusal: ReadRefusal, quantity?: string) => ({
    name: `${name}-function-${code}${quantity === undefined ? '' : '-too-few'}`,
    when: { device: name, function: code, ...(quantity !== undefined && { quantity }) },
    do: [doneBy(refusal)],
  });
  const late = replyTime && replyTime.median >= SHORTEST_DELAY;
  return [
    ...survey.tables.flatMap(({ table, unsupported }) =>
      unsupported === undefined ? [] : [refusing(READ_FUNCTIONS[table], unsupported)],
    ),
    ...survey.tables.flatMap(({ table, tooFew, least }) =>
      tooFew === undefined ? [] : [refusing(READ_FUNCTIONS[table], tooFew, `1-${least - 1}`)],
    ),
    ...wrongQuantityRules(name, survey),
    ...[...survey.refused].map(([code, refusal]) => refusing(code, refusal)),
    ...notAskedRule(name, device),
    ...(tested?.faults ?? []).map(({ name: rule, when, ...rest }) => ({
      name: `${name}-${rule}`,
      when: { device: name, ...(when as object | undefined) },
      ...rest,
    })),
    ...(late ? [delayRule(name, replyTime.median, replyTime.jitter)] : []),
  ];
}
