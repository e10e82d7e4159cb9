import type { Bench } from '../bench.js';
import {
  absent,
  conforms,
  dangerous,
  inconclusive,
  isAbsent,
  type Judged,
  notAnswered,
  violates,
} from '../check.js';
import type { How } from '../codes/phrases.js';
import type { Exchange } from '../exchange.js';
import type { Found } from '../found.js';
import { MOST_NAMED } from '../lost.js';
import { didOf } from '../reading.js';
import { readPdu, type ScratchTable } from '../requests.js';
import { READ_BACK_MS } from '../scratch.js';
import { besideOf, writeRegister } from './written.js';

/* Verifies a write that a server has confirmed: reads back the values and their neighbours. */

/** How many cells are checked on each side of the written ones: a byte of coils has eight. */
const BESIDE = { holding: 2, coils: 8 } as const;
/** Maximum number of cells per read. */
const MOST = { holding: 125, coils: 2000 } as const;

/** A write of consecutive cells. */
export interface CellWrite {
  readonly table: ScratchTable;
  readonly first: number;
  readonly many: number;
  /** The values to write, derived from the present ones. */
  readonly values: (before: readonly number[], isNarrow: boolean) => readonly number[];
  readonly pdu: (values: readonly number[]) => Uint8Array;
  /** What the register must contain before the write, if not every value would show a mistake. */
  readonly prime?: number;
  /** How many bytes of the request the reply repeats; 0 if it has other content. */
  readonly echo: number;
}

/** The cells that decide whether a write worked: those written and their neighbours, if they can be read. */
interface Cells {
  readonly from: number;
  readonly values: readonly number[];
}

/** Judges a reply that must repeat the beginning of its request. */
function echoOf(exchange: Exchange, length: number): Judged {
  const { answer, pdu = new Uint8Array() } = exchange;
  const code = pdu[0] ?? 0;
  if (isAbsent(exchange)) return absent(exchange);
  if (answer.kind === 'exception')
    return inconclusive({ code: 'scratch-refuses', function: code, exception: answer.code }, exchange);
  if (answer.kind === 'silent') return notAnswered(exchange, false);
  if (answer.kind !== 'data') return violates({ code: 'write-misanswered', answer: didOf(answer) }, exchange);
  const isEcho = Buffer.compare(answer.pdu.subarray(0, length || 1), pdu.subarray(0, length || 1)) === 0;
  return isEcho && (length === 0 || answer.pdu.length === length)
    ? conforms({ code: 'repeated' }, exchange)
    : violates({ code: 'not-repeated' }, exchange);
}

/**
 * Writes, and reads back until the values are right, or for as long as other servers take to show a new
 * value. If something is wrong, tries again with confirmed reads: some servers sometimes return other values,
 * or return them in blocks.
 */
export async function confirmed(bench: Bench, write: CellWrite): Promise<Judged> {
  let quick = await tried(bench, write, false);
  if (write.table === 'holding' && isOfValue(quick) && !bench.facts.isNarrow) {
    bench.facts.isNarrow = true;
    const narrow = await tried(bench, write, false);
    if (isOfValue(narrow)) bench.facts.isNarrow = false;
    else quick = narrow;
  }
  if (quick.verdict !== 'violates' || quick.grade !== 'dangerous') return quick;
  for (let i = 0; i < STILL_TRIES && (await isAlive(bench, write, quick.said)); i++)
    quick = await tried(bench, write, false);
  const { said } = quick;
  if (said.code === 'neighbour-written' && !(await restored(bench, write.table, said.beside, said.before)))
    return { ...quick, isFinal: true, seen: { times: 1, of: 1 } };
  const sure = await tried(bench, write, true);
  return sure.grade === 'dangerous' ? { ...sure, isFinal: true, seen: { times: 2, of: 2 } } : sure;
}

/**
 * How many times cells next to a write are read while nothing is written, at what interval in ms, and how
 * many times a write is repeated for that.
 */
const STILL_READS = 12;
const STILL_MS = 150;
const STILL_TRIES = 3;
/** A counter or measurement changes by at most this between two reads. */
const STEP = 16;

/**
 * True if a cell next to a write changes on its own: it was constant by chance while the range was watched. A
 * register that has changed by a small step, and whose new value is neither 0 nor a written one, counts or
 * measures.
 */
async function isAlive(bench: Bench, { table, first, many }: CellWrite, said: Found): Promise<boolean> {
  if (said.code !== 'neighbour-written') return false;
  const { scratch, asker } = bench;
  const from = Math.max(0, first - BESIDE[table]);
  const isOurs = table === 'coils' || said.now === 0 || said.wrote.includes(said.now);
  if (!isOurs && Math.abs(said.now - said.before) <= STEP) scratch.moves(table, said.beside);
  let last: readonly number[] | undefined;
  for (let i = 0; i < STILL_READS && !scratch.isMoving(table, said.beside); i++) {
    const now = await bench.cells(table, from, first - from + many + BESIDE[table]);
    now?.forEach((value, at) => {
      if (last && last[at] !== value) scratch.moves(table, from + at);
    });
    last = now ?? last;
    await asker.wait(STILL_MS);
  }
  return scratch.isMoving(table, said.beside);
}

/** True if a write was refused with exception 03: the register may not accept the value. */
const isOfValue = ({ said }: Judged) => said.code === 'scratch-refuses' && said.exception === 3;

/** Restores a cell next to the written ones. False for a cell outside the range. */
async function restored(bench: Bench, table: ScratchTable, at: number, value: number): Promise<boolean> {
  if (!bench.scratch.changed(table, at, value)) return false;
  if (table === 'coils') await bench.ask(readPdu(5, at, value ? 0xff00 : 0));
  else await writeRegister(bench, at, value);
  return true;
}

async function tried(bench: Bench, write: CellWrite, isSure: boolean): Promise<Judged> {
  const { table, first, many, pdu, echo, prime } = write;
  if (prime !== undefined) await writeRegister(bench, first, prime);
  const before = await around(bench, write, isSure);
  if (before === undefined) return inconclusive({ code: 'scratch-not-read' });
  const at = first - before.from;
  const values = write.values(before.values.slice(at, at + many), bench.facts.isNarrow === true);
  const exchange = await bench.ask(pdu(values));
  bench.noteFunction(exchange.pdu?.[0] ?? 0, exchange);
  const judged = echoOf(exchange, echo);
  if (judged.verdict !== 'conforms') return judged;
  const wanted = [...before.values];
  wanted.splice(at, many, ...values);
  let now: readonly number[] | undefined;
  const isTargetMoving = () => values.some((_, target) => bench.scratch.isMoving(table, first + target));
  for (const [i, ms] of READ_BACK_MS.entries()) {
    await bench.asker.wait(ms - (READ_BACK_MS[i - 1] ?? 0));
    const last = now;
    now = await bench.cells(table, before.from, wanted.length, isSure);
    // Nothing was written between the two reads. An unconfirmed read may just have been odd.
    if (isSure)
      now?.forEach((value, at) => {
        if (last && last[at] !== value) bench.scratch.moves(table, before.from + at);
      });
    if (isTargetMoving()) return inconclusive({ code: 'scratch-moves', table }, exchange);
    const found = now && differenceOf(bench, write, { before, wanted, now });
    if (now && found === undefined) return judged;
  }
  if (now === undefined) return inconclusive({ code: 'scratch-not-read' }, exchange);
  const found = differenceOf(bench, write, { before, wanted, now }) as Found;
  return dangerous(found, exchange, bench.log.at(-1) as Exchange);
}

/** Reads the cells of a write and as many neighbours as exist. */
async function around(
  bench: Bench,
  { table, first, many }: CellWrite,
  isSure: boolean,
): Promise<Cells | undefined> {
  const beside = Math.min(BESIDE[table], (MOST[table] - many) >> 1);
  for (const [before, after] of [
    [beside, beside],
    [beside, 0],
    [0, beside],
    [0, 0],
  ] as const) {
    const from = Math.max(0, first - before);
    const values = await bench.cells(table, from, first - from + many + after, isSure);
    if (values) {
      await bench.scratch.keepWithin(table, from, values.length);
      return { from, values };
    }
  }
  return undefined;
}

interface Difference {
  readonly before: Cells;
  readonly wanted: readonly number[];
  readonly now: readonly number[];
}

/** The difference between the expected and the actual cells; undefined if there is none. */
function differenceOf(
  { scratch, log }: Bench,
  { table, first, many }: CellWrite,
  { before, wanted, now }: Difference,
): Found | undefined {
  const { from } = before;
  const isOther = (i: number) => now[i] !== wanted[i] && !scratch.isMoving(table, from + i);
  const wrong = wanted.flatMap((_, i) => (isOther(i) ? [i] : []));
  const [at] = wrong;
  if (at === undefined) return undefined;
  const code = log.findLast(({ pdu }) => (pdu?.[0] ?? 0) > 4)?.pdu?.[0] ?? 0;
  const isTarget = (i: number) => from + i >= first && from + i < first + many;
  const missed = wrong.find(isTarget);
  if (missed === undefined)
    return {
      code: 'neighbour-written',
      ...{ function: code, address: first, table, beside: from + at },
      ...{ wrote: wanted.slice(first - from).slice(0, Math.min(many, MOST_NAMED)) },
      ...{ before: before.values[at] ?? 0, now: now[at] ?? 0 },
    };
  const target = first - from;
  const part = (of: readonly number[]) => of.slice(target, target + many);
  const how = howOf(part(wanted), part(now), part(before.values), now[target + many]);
  const named = (of: readonly number[]) => of.slice(missed, Math.min(missed + MOST_NAMED, target + many));
  const facts = {
    ...{ function: code, address: from + missed, wrote: named(wanted), reads: named(now) },
  };
  return how === 'nothing' ? { code: 'never-stored', ...facts } : { code: 'stored-otherwise', ...facts, how };
}

/** How values differ from the written ones. */
function howOf(
  wrote: readonly number[],
  reads: readonly number[],
  before: readonly number[],
  behind: number | undefined,
): How {
  const are = (those: readonly (number | undefined)[]) => those.every((each, i) => each === reads[i]);
  if (are(before)) return 'nothing';
  if (wrote.length > 1 && are(wrote.map(() => wrote[0]))) return 'first-everywhere';
  if (are(wrote.map(() => 0))) return 'zeros';
  if (wrote.every((each, i) => each === (i + 1 < reads.length ? reads[i + 1] : behind))) return 'further';
  if (are(wrote.toReversed())) return 'reversed';
  if (wrote.length > 1 && reads[0] === wrote[0] && before.slice(1).every((each, i) => each === reads[i + 1]))
    return 'only-first';
  if (are(wrote.map((each) => ((each & 0xff) << 8) | (each >> 8)))) return 'bytes-swapped';
  return 'otherwise';
}

/** Writes at the first, the last, a middle and an odd address of the range, once each. */
export async function atEachPlace(
  bench: Bench,
  table: ScratchTable,
  many: number,
  writeAt: (first: number, turn: number, many: number) => CellWrite,
): Promise<Judged> {
  const judgements: Judged[] = [];
  const { places, size } = await bench.scratch.places(table, many);
  if (places.length === 0) return inconclusive({ code: 'scratch-moves', table });
  for (const [turn, first] of places.entries()) {
    const judged = await confirmed(bench, writeAt(first, turn, size));
    judgements.push(judged);
    if (judged.verdict === 'violates' || judged.verdict === 'unsupported') return judged;
  }
  return judgements.find(({ verdict }) => verdict !== 'conforms') ?? (judgements[0] as Judged);
}

/** Values from the whole range, all different from each other and from the present ones. */
export function otherWords(turn: number): CellWrite['values'] {
  return (before, isNarrow) =>
    before.map((was, i) => {
      if (isNarrow) return besideOf(was);
      const value = (WORDS[(turn + i) % WORDS.length] ?? 0) ^ (Math.floor(i / WORDS.length) * 0x0501);
      return value === was ? value ^ 0x0101 : value;
    });
}

/** Values with both signs, with both bytes in use, and from the ends of the range. */
const WORDS = [0xa5c3, 0x2711, 0xfffe, 0x7fff, 0x8000, 0x00ff, 0xe3a1, 0x0102] as const;

/** Inverts each coil except the last: a pattern that is not the reverse of another one. */
export const otherBits = (before: readonly number[]): readonly number[] =>
  before.map((was, i) => (i % 5 === 3 ? was : 1 - was));
