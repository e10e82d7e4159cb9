import { isOfBits, TABLE_NAMES, type TableName } from '../../device/tables.js';
import type { ImportedDevice } from '../../document/register-map.js';
import { ExceptionCode, FunctionCode } from '../../modbus/protocol/function-code.js';
import { type Asker, type ReadRefusal, refusalOf, type Taken } from './asker.js';
import { searchTables } from './search.js';
import { BlockSize, type Range, runsOf, TableSurvey } from './table-survey.js';

/** What a survey should find out about a device. */
interface SurveyOrder {
  readonly ranges: readonly Range[];
  /** True to probe every address in the ranges. */
  readonly isThorough: boolean;
  /** True if blocks can't be trusted: each address is read individually, and the block size is not determined. */
  readonly isSingle?: boolean;
  /** Further function codes to try. Each is sent without data, so that the device has nothing to execute. */
  readonly functions: readonly number[];
  /** How long to watch values for changes, in ms; 0 to skip this. */
  readonly watch: number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Called with the address that the survey has reached. */
  readonly progress: (table: TableSurvey, address: number) => void;
}

export interface DeviceSurvey {
  readonly tables: readonly TableSurvey[];
  /** The identification objects by identifier (Application Protocol V1.1b3, 6.21). */
  readonly identity: ReadonlyMap<number, string>;
  /** The data of the reply to function 17, without the byte count. */
  readonly serverId: Uint8Array | undefined;
  /** The data of the reply to function 7. */
  readonly exceptionStatus: number | undefined;
  /** How the device refuses functions that do not read a table, by function code. */
  readonly refused: ReadonlyMap<number, ReadRefusal>;
  /** The device's reaction to each of the `functions` in the order. */
  readonly probed: ReadonlyMap<number, Taken>;
  /** Silence that the device needs before a request, in ms; 0 if it needs none. */
  readonly pauseBefore: number;
  /** Values that changed while they were watched: the old and the new one. */
  readonly moved: ReadonlyMap<TableSurvey, ReadonlyMap<number, number>>;
}

const read = (code: number, address: number) => Uint8Array.of(code, address >> 8, address & 0xff, 0, 1);
const SERVER_ID = Uint8Array.of(FunctionCode.reportServerId);
/** Subfunction 0 of function 8: the device returns the data, and changes nothing (6.8). */
const QUERY_DATA = Uint8Array.of(FunctionCode.diagnostics, 0, 0, 0, 0);
const identification = (access: number, object: number) =>
  Uint8Array.of(FunctionCode.encapsulatedInterfaceTransport, 14, access, object);

/** Requests that show whether there is a device. Any answer does, except a gateway's exception for a missing device. */
const PROBES: readonly Uint8Array[] = [
  read(FunctionCode.readHoldingRegisters, 0),
  read(FunctionCode.readInputRegisters, 0),
  SERVER_ID,
  identification(1, 0),
  read(FunctionCode.readCoils, 0),
];
const FROM_GATEWAY: readonly number[] = [
  ExceptionCode.gatewayPathUnavailable,
  ExceptionCode.gatewayTargetDeviceFailedToRespond,
];

/**
 * The silences to try before a request, in ms, shortest first. A silence is long enough if `TRIES`
 * consecutive requests are answered.
 */
const PAUSES = [0, 2, 5, 10, 20, 50, 100, 200];
const TRIES = 4;

/** @returns the first request that the device answers, or how it refused the last one */
export async function findAnswer(asker: Asker): Promise<{ readonly pdu: Uint8Array } | ReadRefusal> {
  let refusal: ReadRefusal = 'silence';
  for (const pdu of PROBES) {
    const taken = await asker.askOnce(pdu);
    if (taken.kind === 'data') return { pdu };
    refusal = refusalOf(taken);
    if (taken.kind === 'exception' && !FROM_GATEWAY.includes(taken.code)) return { pdu };
  }
  return refusal;
}

/**
 * Finds out everything about a device.
 * @param answered a request that the device answers; if absent, the survey does not determine the pause
 */
export async function surveyDevice(
  asker: Asker,
  order: SurveyOrder,
  answered: Uint8Array | undefined,
): Promise<DeviceSurvey> {
  const pauseBefore = answered ? await findPause(asker, answered) : 0;
  asker.times.length = 0;
  const tables = await readTables(asker, order);
  const refused = new Map<number, ReadRefusal>();
  const ask = async (pdu: Uint8Array) => {
    const taken = await asker.ask(pdu);
    if (taken.kind === 'data') return taken.pdu;
    if (!asker.isOver) refused.set(pdu[0] as number, refusalOf(taken));
    return undefined;
  };
  const status = await ask(Uint8Array.of(FunctionCode.readExceptionStatus));
  await ask(QUERY_DATA);
  await ask(Uint8Array.of(FunctionCode.getCommEventCounter));
  await ask(Uint8Array.of(FunctionCode.getCommEventLog));
  const serverId = await ask(SERVER_ID);
  const identity = await readIdentity(ask);
  const probed = new Map<number, Taken>();
  for (const code of order.functions) {
    if (!asker.isOver) probed.set(code, await asker.ask(Uint8Array.of(code)));
  }
  const moved = order.watch > 0 && !asker.isOver ? await watch(tables, order) : new Map();
  return {
    tables,
    identity,
    serverId: serverId?.slice(2, 2 + (serverId[1] as number)),
    exceptionStatus: status?.[1],
    refused,
    probed,
    pauseBefore,
    moved,
  };
}

/** Searches the tables, and then determines how they can be read. */
async function readTables(asker: Asker, order: SurveyOrder): Promise<TableSurvey[]> {
  const blocks = { bits: new BlockSize(true), registers: new BlockSize(false) };
  if (order.isSingle) for (const block of Object.values(blocks)) block.most = 1;
  const tables = [...TABLE_NAMES]
    .reverse()
    .map(
      (table) =>
        new TableSurvey(table, order.ranges, asker, isOfBits(table) ? blocks.bits : blocks.registers),
    );
  await searchTables(tables, order);
  for (const survey of tables) {
    // If every probe was refused with the same code, which is not about addresses, the device lacks the
    // table.
    const [way] = survey.ways;
    const isUnknown = survey.values.size === 0 && survey.ways.size === 1 && !asker.isOver;
    if (isUnknown && way !== ExceptionCode.illegalDataAddress) survey.unsupported ??= way;
    await survey.findWholes();
  }
  for (const block of order.isSingle ? [] : Object.values(blocks)) {
    const runs = tables
      .filter((survey) => survey.block === block)
      .flatMap((survey) => runsOf(survey.values).map((run) => ({ survey, run })));
    const [longest] = runs.sort((a, b) => b.run.length - a.run.length);
    await longest?.survey.findLimit(longest.run);
  }
  for (const survey of tables) await survey.askWrongQuantities();
  return tables;
}

/** Finds the shortest of `PAUSES` that gets all tries answered, and makes it the asker's minimum from now on. */
async function findPause(asker: Asker, pdu: Uint8Array): Promise<number> {
  const usual = asker.pause;
  for (const pause of PAUSES) {
    asker.pause = pause;
    let answers = 0;
    while (answers < TRIES && (await asker.askOnce(pdu)).kind !== 'silence') answers++;
    if (answers < TRIES && !asker.isOver) continue;
    asker.pause = Math.max(usual, 2 * pause);
    return pause;
  }
  asker.pause = Math.max(usual, ...PAUSES);
  return 0;
}

const LEVELS = [1, 2, 3];
const MOST_OBJECTS = 256;

/** Reads all identification objects: the basic ones, then the others as far as the device supports them. */
async function readIdentity(
  ask: (pdu: Uint8Array) => Promise<Uint8Array | undefined>,
): Promise<Map<number, string>> {
  const objects = new Map<number, string>();
  for (const level of LEVELS) {
    let next: number | undefined = 0;
    for (let parts = 0; next !== undefined && parts < MOST_OBJECTS; parts++) {
      const pdu: Uint8Array | undefined = await ask(identification(level, next));
      if (pdu === undefined) return objects;
      next = readObjects(pdu, objects);
    }
  }
  return objects;
}

/**
 * Reads the objects in a response.
 * @returns the object with which the next request begins; undefined after the last one
 */
function readObjects(pdu: Uint8Array, objects: Map<number, string>): number | undefined {
  const [, , , , more, next, count = 0] = pdu;
  let at = 7;
  for (let i = 0; i < count && at + 2 <= pdu.length; i++) {
    const [id = 0, length = 0] = pdu.subarray(at);
    objects.set(id, Buffer.from(pdu.subarray(at + 2, at + 2 + length)).toString('latin1'));
    at += 2 + length;
  }
  return more === 0xff && next !== undefined && !objects.has(next) ? next : undefined;
}

async function watch(
  tables: readonly TableSurvey[],
  { watch: ms, sleep }: SurveyOrder,
): Promise<Map<TableSurvey, ReadonlyMap<number, number>>> {
  await sleep(ms);
  const moved = new Map<TableSurvey, ReadonlyMap<number, number>>();
  for (const table of tables) moved.set(table, await table.readAgain());
  return moved;
}

/** A device that was read, and its reply times in ms. */
export interface ClonedDevice {
  readonly unit: number;
  readonly survey: DeviceSurvey;
  readonly replyTime: { readonly median: number; readonly jitter: number } | undefined;
  /** Why the device was not read completely; undefined if it was. */
  readonly unfinished: string | undefined;
  /** The names and types of its registers, if a file gives them. */
  readonly map: ImportedDevice | undefined;
  /** Additional findings of a server test; absent if the device was only read. */
  readonly tested?: TestedWays;
}

/** How a tested device differs from what its registers show. */
export interface TestedWays {
  readonly remarks: readonly string[];
  readonly manners: Readonly<Record<string, unknown>>;
  /** Fault rules. Their names and devices are added when they are written. */
  readonly faults: readonly Readonly<Record<string, unknown>>[];
  /** Addresses that accept writes. */
  readonly writable: Readonly<Partial<Record<TableName, Range>>>;
  /** The functions that the device is known to have. */
  readonly functions: ReadonlySet<number>;
  /** How it refuses a function that no device has; undefined if that was not tried. */
  readonly unknownFunction: ReadRefusal | undefined;
}
