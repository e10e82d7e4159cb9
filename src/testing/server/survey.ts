import { TABLE_NAMES, type TableName } from '../../device/tables.js';
import type { ModbusClient, RequestOutcome } from '../../modbus/client/client.js';
import { bitsAt, wordAt } from '../../modbus/protocol/bytes.js';
import { EXCEPTION_FLAG, FunctionCode } from '../../modbus/protocol/function-code.js';
import { Asker as CloneAsker, type ReadRefusal } from '../survey/asker.js';
import { replyTimeOf } from '../survey/reply-time.js';
import { type ClonedDevice, type DeviceSurvey, surveyDevice } from '../survey/survey.js';
import { BlockSize, type Range, READ_FUNCTIONS, TableSurvey } from '../survey/table-survey.js';
import { orWhenEnded } from './asker.js';
import type { Bench } from './bench.js';
import type { Exchange } from './exchange.js';
import { foundText } from './found.js';
import { hasOtherQuantity } from './reading.js';
import { valuesOf } from './requests.js';

/** What a survey must consider from the findings of the checks. */
export interface SurveyCare {
  readonly ranges: readonly Range[];
  /** True if an unknown address silences the server, so that no address is tried. */
  readonly isAfraid: boolean;
  /** True if blocks differ from individual reads. */
  readonly isSingle: boolean;
}

/** How long a silent server may take to come back, in ms. */
export const RECOVERY_MS = 90_000;
/** Interval between progress reports, in ms. */
export const TOLD_MS = 10_000;

/**
 * Reads the content of a server like `clone`, using what the server test has learned about sending requests
 * to it. If that is no longer possible, the device consists of what the checks have read.
 */
export async function surveyServer(bench: Bench, care: SurveyCare): Promise<ClonedDevice> {
  const { asker, facts } = bench;
  const { clock, unitId, target } = asker;
  asker.check = 'survey';
  const seen = valuesSeen(bench.log);
  let toldAt = clock.now();
  const cloneAsker = new CloneAsker(clientOf(bench), unitId, {
    ...{
      timeout: asker.timeout(3),
      pause: 0,
      sleep: (ms) => asker.pause(ms),
      isStopped: () => asker.isStopped,
    },
    asked: () => {},
  });
  const isAsked =
    !care.isAfraid && bench.blocked === undefined && (await bench.isAlive().catch(orWhenEnded(false)));
  const device = { unit: unitId, map: undefined };
  if (!isAsked) {
    const why = care.isAfraid ? 'an unknown address silences the server' : 'the server no longer answers';
    const unfinished = bench.blocked
      ? foundText(bench.blocked)
      : `${why}, so the file has only the values that the checks read`;
    return { ...device, survey: surveySeen(seen, cloneAsker, facts), replyTime: undefined, unfinished };
  }
  const survey = await surveyDevice(
    cloneAsker,
    {
      ...{ ranges: care.ranges, isThorough: false, functions: [], watch: 0, isSingle: care.isSingle },
      sleep: (ms) => asker.pause(ms),
      progress: ({ table, values }, address) => {
        if (clock.now() - toldAt < TOLD_MS) return;
        toldAt = clock.now();
        bench.progress(`survey: ${table} ${address}, ${values.size} found`);
      },
    },
    undefined,
  );
  return {
    ...{ ...device, survey, replyTime: replyTimeOf(cloneAsker, { target }) },
    unfinished: cloneAsker.failure ?? (asker.isStopped ? 'it was stopped' : undefined),
  };
}

/** A client for a survey: it sends requests through the server test, which waits for a silent server. */
function clientOf(bench: Bench): Pick<ModbusClient, 'ask'> {
  const tries = bench.facts.losses === undefined ? 1 : bench.asker.tries;
  const once = async (pdu: Uint8Array, timeout: number): Promise<RequestOutcome> => {
    const exchange = await bench.ask(pdu, { timeout, tries });
    const { answer, chunks, sentAt } = exchange;
    const ms = (chunks.at(-1)?.at ?? sentAt) - sentAt;
    const adu = Uint8Array.from(chunks.flatMap(({ bytes }) => [...bytes]));
    if (answer.kind === 'exception')
      return {
        ...{ kind: 'answered', adu, ms },
        pdu: Uint8Array.of((pdu[0] as number) | EXCEPTION_FLAG, answer.code),
      };
    if (answer.kind === 'data' && !exchange.oddities.includes('fewer-values'))
      return { kind: 'answered', pdu: answer.pdu, adu, ms };
    return { kind: 'timeout', heard: adu, ms };
  };
  const ask = async (pdu: Uint8Array, timeout: number): Promise<RequestOutcome> => {
    const first = await once(pdu, timeout);
    // Either silence is how this request is refused, or the server is temporarily gone, which says nothing
    // about the request.
    if (first.kind !== 'timeout' || (await bench.isAlive())) return first;
    const isBack = await bench.isBack(RECOVERY_MS);
    return isBack ? once(pdu, timeout) : { kind: 'failed', reason: 'the server no longer answers' };
  };
  const stopped = { kind: 'failed', reason: 'it was stopped' } as const;
  return { ask: ({ pdu, timeout }) => ask(pdu, timeout).catch(orWhenEnded(stopped)) };
}

type Seen = ReadonlyMap<TableName, ReadonlyMap<number, number>>;

/** The values from plain reads, by table and address; the newest of each. */
function valuesSeen(log: readonly Exchange[]): Seen {
  const seen = new Map(TABLE_NAMES.map((table) => [table, new Map<number, number>()] as const));
  for (const exchange of log) {
    const { pdu, answer, isPlain } = exchange;
    const table = TABLE_NAMES.find((each) => READ_FUNCTIONS[each] === pdu?.[0]);
    if (!pdu || !table || !isPlain || answer.kind !== 'data' || hasOtherQuantity(exchange)) continue;
    const [address, quantity] = [wordAt(pdu, 1), wordAt(pdu, 3)];
    const values = (pdu[0] as number) <= 2 ? bitsAt(answer.pdu, 2, quantity) : valuesOf(answer.pdu);
    values.forEach((value, i) => void seen.get(table)?.set(address + i, Number(value)));
  }
  return seen;
}

/** The values that the checks have read, in the form of a survey. */
function surveySeen(seen: Seen, asker: CloneAsker, facts: Bench['facts']): DeviceSurvey {
  const blocks = { bits: new BlockSize(true), registers: new BlockSize(false) };
  const tables = TABLE_NAMES.map((name) => {
    const code = READ_FUNCTIONS[name];
    const table = new TableSurvey(name, [], asker, code <= 2 ? blocks.bits : blocks.registers);
    for (const [address, value] of seen.get(name) ?? []) table.values.set(address, value);
    if (table.values.size === 0) table.unsupported = refusalOf(code, facts);
    return table;
  });
  const asked = [7, 8, 11, 12, 17, FunctionCode.encapsulatedInterfaceTransport];
  return {
    ...{ tables, serverId: undefined, exceptionStatus: undefined, probed: new Map(), pauseBefore: 0 },
    identity: new Map(facts.vendor?.map((text, i) => [i, text])),
    refused: new Map(
      asked.flatMap((code) => {
        const refusal = refusalOf(code, facts);
        return refusal === undefined ? [] : [[code, refusal] as const];
      }),
    ),
    moved: new Map(),
  };
}

/** How the server refuses a function; undefined if it has the function, or if that was not tried. */
function refusalOf(code: number, { functions }: Bench['facts']): ReadRefusal | undefined {
  if (functions.there.has(code)) return undefined;
  if (functions.missing.has(code)) return 1;
  return functions.silent.has(code) ? 'silence' : undefined;
}
