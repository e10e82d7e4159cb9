import type { Bench } from '../bench.js';
import { type Judged, unsupported } from '../check.js';
import type { Exchange } from '../exchange.js';
import { readPdu, write16 } from '../requests.js';
import { READ_BACK_MS } from '../scratch.js';

/* What checks share that write. */

const MOST_READS = 4;

/** A request that writes registers, by the function that the server has. */
export function writePdu(bench: Bench, address: number, words: readonly number[]): Uint8Array {
  const [value = 0] = words;
  const isSingle = words.length === 1 && !bench.facts.functions.missing.has(6);
  return isSingle ? readPdu(6, address, value) : write16(address, words);
}

/** Writes a register by the function that the server has. */
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

/**
 * Reads a register that was written until it has the value.
 * @returns when it had, in ms after the write; undefined when it has another value to the end
 */
export async function readsAfter(bench: Bench, address: number, value: number): Promise<number | undefined> {
  let waited = 0;
  for (const ms of READ_BACK_MS) {
    await bench.asker.wait(ms - waited);
    waited = ms;
    if ((await bench.words(3, address, 1))?.[0] === value) return ms;
  }
  return undefined;
}

/** The word of a register, read until two reads agree, because a read now and then may be odd; undefined if none do. */
export async function sureWord(bench: Bench, address: number): Promise<number | undefined> {
  let last: number | undefined;
  for (let i = 0; i < MOST_READS; i++) {
    const [word] = (await bench.words(3, address, 1)) ?? [];
    if (word !== undefined && word === last) return word;
    last = word;
  }
  return undefined;
}

/** The value of a coil, read with its neighbours: a read of one coil alone may be odd. */
export async function coilIs(bench: Bench, coil: number): Promise<boolean | undefined> {
  return ((await bench.bits(1, coil, 8)) ?? (await bench.bits(1, coil, 1)))?.[0];
}

/** Judges what was sent with a write in it. @param isExecuted whether the register has the value */
type JudgeHidden = (isExecuted: boolean) => Judged;

/**
 * Sends a write of the scratch register that must not be executed, because of where it stands.
 * @param mask the bits in which the value differs from the one that the register has
 */
export async function hiddenWrite(
  bench: Bench,
  mask: number,
  send: (write: Uint8Array) => Promise<JudgeHidden>,
): Promise<Judged> {
  const address = await bench.scratch.register();
  const [before] = (await bench.words(3, address, 1)) ?? [];
  if (before === undefined) return unsupported({ code: 'holding-not-read' });
  const wanted = before ^ mask;
  const judge = await send(readPdu(6, address, wanted));
  const [after] = (await bench.words(3, address, 1)) ?? [];
  return judge(after === wanted);
}
