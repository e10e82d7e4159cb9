import type { Bench } from '../bench.js';
import { inconclusive, type Judged, unsupported } from '../check.js';
import type { Exchange } from '../exchange.js';
import { readPdu, write16 } from '../requests.js';
import { READ_BACK_MS } from '../scratch.js';

/* Shared parts of the checks that write. */

const MOST_READS = 4;

/** A request that writes registers, with a function that the server has. */
export function writePdu(bench: Bench, address: number, words: readonly number[]): Uint8Array {
  const [value = 0] = words;
  const isSingle = words.length === 1 && !bench.facts.functions.missing.has(6);
  return isSingle ? readPdu(6, address, value) : write16(address, words);
}

/** Writes a register with a function that the server has. */
export async function writeRegister(bench: Bench, address: number, value: number): Promise<Exchange> {
  if (!bench.facts.functions.missing.has(6)) {
    const single = await bench.ask(readPdu(6, address, value));
    bench.noteFunction(6, single);
    if (single.answer.kind === 'data') return single;
  }
  const multiple = await bench.ask(write16(address, [value]));
  bench.noteFunction(16, multiple);
  return multiple;
}

/** A value next to another one, which a register with limits also accepts. */
export const besideOf = (value: number) => value ^ 1;

/**
 * Writes a value; if the register has limits and refuses it with exception 03, writes a value next to the
 * present one.
 */
export async function writeOther(
  bench: Bench,
  address: number,
  wanted: number,
  was: number,
): Promise<{ readonly written: Exchange; readonly value: number }> {
  const written = await writeRegister(bench, address, wanted);
  if (written.answer.kind !== 'exception' || written.answer.code !== 3) return { written, value: wanted };
  const value = besideOf(was);
  return { written: await writeRegister(bench, address, value), value };
}

/**
 * Reads a register after a write until it has the value.
 * @returns when it did, in ms after the write; 0 if no other value was read first; undefined if it never did
 */
export async function readsAfter(bench: Bench, address: number, value: number): Promise<number | undefined> {
  let waited = 0;
  let isOld = false;
  for (const ms of READ_BACK_MS) {
    await bench.asker.wait(ms - waited);
    waited = ms;
    const [now] = (await bench.words(3, address, 1)) ?? [];
    if (now === value) return isOld ? ms : 0;
    isOld ||= now !== undefined;
  }
  return undefined;
}

/** The word in a register, read until two reads agree, because an occasional read may be odd; undefined if none do. */
export async function sureWord(bench: Bench, address: number): Promise<number | undefined> {
  let last: number | undefined;
  for (let i = 0; i < MOST_READS; i++) {
    const [word] = (await bench.words(3, address, 1)) ?? [];
    if (word !== undefined && word === last) return word;
    last = word;
  }
  return undefined;
}

/** The value of a coil, read with its neighbours: a read of a single coil may be odd. */
export async function coilIs(bench: Bench, coil: number): Promise<boolean | undefined> {
  return ((await bench.bits(1, coil, 8)) ?? (await bench.bits(1, coil, 1)))?.[0];
}

/** Judges bytes that contain a write. @param isExecuted whether the register has the value */
type JudgeHidden = (isExecuted: boolean) => Judged;

/**
 * Sends writes to the scratch register that must not be executed because of the bytes around them: with
 * functions 6 and 16, if the server has them.
 * @param mask the bits in which the value differs from the register's
 */
export async function hiddenWrite(
  bench: Bench,
  mask: number,
  send: (write: Uint8Array) => Promise<JudgeHidden>,
): Promise<Judged> {
  const address = await bench.scratch.register();
  const judgements: Judged[] = [];
  for (const code of [6, 16]) {
    const [before] = (await bench.words(3, address, 1)) ?? [];
    if (before === undefined) return unsupported({ code: 'holding-not-read' });
    const wanted = before ^ mask;
    const pdu = (value: number) => (code === 6 ? readPdu(6, address, value) : write16(address, [value]));
    const own = await bench.ask(pdu(before));
    bench.noteFunction(code, own);
    if (own.answer.kind !== 'data') continue;
    const judge = await send(pdu(wanted));
    const [after] = (await bench.words(3, address, 1)) ?? [];
    judgements.push(judge(after === wanted));
    if (judgements.at(-1)?.verdict !== 'conforms') break;
  }
  return judgements.at(-1) ?? inconclusive({ code: 'scratch-takes-no-write' });
}
