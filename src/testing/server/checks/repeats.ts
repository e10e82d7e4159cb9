import type { Bench } from '../bench.js';
import {
  checksOf,
  conforms,
  counted,
  dangerous,
  inconclusive,
  type Judged,
  unsupported,
  violates,
  worstOf,
} from '../check.js';
import { ROBUSTNESS } from '../clauses.js';
import type { Oddity } from '../codes/oddities.js';
import { type Exchange, isDecisive } from '../exchange.js';
import { didOf, tallyOf } from '../reading.js';
import { readPdu, valuesIn } from '../requests.js';
import { differing } from '../scratch.js';

const REPEATED_READS = 20;
const MORE_READS = 60;
/** The block sizes to try, largest first. */
const BLOCKS = [20, 12, 8, 4];
/** If this fraction of reads agree, those that differ are isolated. */
const USUAL_SHARE = 0.75;

/** Reads the same registers repeatedly: nothing writes to them, so values that are not live must not change. */
async function repeats(bench: Bench, many: number, quantity: number): Promise<Judged> {
  const times = bench.asker.waits.reads(many);
  const { code, address } = bench.good;
  if (code < 3) return unsupported({ code: 'no-registers' });
  const pdu = readPdu(code, address, quantity);
  const first = await bench.ask(pdu);
  if (first.answer.kind !== 'data')
    return inconclusive(
      { code: 'registers-not-read', quantity, address, answer: didOf(first.answer) },
      first,
    );
  const reads: Exchange[] = [];
  const read = async (many: number) => {
    for (let i = 0; i < many; i++) reads.push(await bench.asker.once(pdu, { isExpected: true }));
  };
  const lostOf = () => reads.filter((each) => !isDecisive(each) || each.answer.kind === 'exception');
  await read(times);
  // A single loss or difference decides nothing, so as many reads are made again.
  const texts = reads.filter(({ answer }) => answer.kind === 'data').map(textOf);
  if (lostOf().length === 1 || differing(texts) === 1) await read(times);
  const answered = reads.filter(({ answer }) => answer.kind === 'data');
  const lost = lostOf();
  const answers = tallyOf(lost.map(({ answer }) => answer));
  if (lost.length > 1 && bench.facts.losses === undefined)
    return counted(
      violates,
      { code: 'repeated-reads-lost', registers: quantity, answers },
      lost,
      reads.length,
    );
  // A reply with a different number of values is judged by the checks of frames.
  const whole = answered.filter(({ oddities }) => oddities.length === 0 || isAlways(oddities, answered));
  return judgeValues(whole, quantity, lost, reads.length);
}

const textOf = (exchange: Exchange) => valuesIn(exchange).join(' ');

function isAlways(oddities: readonly Oddity[], answered: readonly Exchange[]): boolean {
  return answered.every((each) => oddities.every((oddity) => each.oddities.includes(oddity)));
}

function judgeValues(
  answered: readonly Exchange[],
  registers: number,
  lost: readonly Exchange[],
  of: number,
): Judged {
  const texts = answered.map(textOf);
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [usual = '', times = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  const others = answered.filter((_, i) => texts[i] !== usual);
  const [other] = others;
  if (!other)
    return lost.length === 1
      ? inconclusive({ code: 'one-read-lost', of }, ...lost)
      : conforms({ code: 'same-values', of: answered.length, registers });
  const isUsual = (i: number) => texts[i] === undefined || texts[i] === usual;
  const isIsolated = texts.every((_, i) => isUsual(i) || (isUsual(i - 1) && isUsual(i + 1)));
  if (others.length >= 2 && isIsolated && times >= USUAL_SHARE * texts.length) {
    const found = { code: 'other-values', values: valuesIn(other).slice(0, 4), usual } as const;
    return counted(dangerous, found, others, texts.length);
  }
  return others.length === 1
    ? inconclusive({ code: 'other-values-once', of: texts.length }, other)
    : inconclusive({ code: 'registers-alive' }, ...others.slice(0, 2));
}

/** Reads the largest block from the good address on repeatedly, in both register tables. */
async function repeatBlock(bench: Bench): Promise<Judged> {
  const judgements: Judged[] = [];
  for (const code of [3, 4] as const) {
    const address = await bench.table(code);
    if (typeof address !== 'number') continue;
    for (const quantity of BLOCKS) {
      const pdu = readPdu(code, address, quantity);
      if ((await bench.ask(pdu)).answer.kind !== 'data') continue;
      judgements.push(await repeatRead(bench, pdu, { function: code, registers: quantity }));
      break;
    }
  }
  return judgements.length > 0 ? worstOf(judgements) : inconclusive({ code: 'no-block' });
}

async function repeatRead(
  bench: Bench,
  pdu: Uint8Array,
  what: { readonly function: number; readonly registers: number },
): Promise<Judged> {
  const reads: Exchange[] = [];
  for (let i = bench.asker.waits.reads(MORE_READS); i > 0; i--) {
    const read = await bench.asker.once(pdu, { isExpected: true });
    reads.push(read);
    if (!isDecisive(read) && bench.facts.losses === undefined && !(await bench.isAlive())) break;
  }
  const lost = reads.filter((each) => !isDecisive(each));
  const of = reads.length;
  if (lost.length === 0 || bench.facts.losses !== undefined)
    return conforms({ code: 'block-reads-answered', of, ...what });
  const answers = tallyOf(lost.map(({ answer }) => answer));
  const found = { code: 'block-reads-lost', times: lost.length, of, answers, ...what } as const;
  return lost.length > 1
    ? counted(violates, found, lost, of)
    : { ...inconclusive(found, ...lost), but: { code: 'longer-run-decides' } };
}

export const REPEATS = checksOf({ group: 'frames', isSeveral: true }, [
  {
    ...{ id: 'same-value', grade: 'met', run: (bench) => repeats(bench, REPEATED_READS, 1) },
    title: 'The same register gives the same value',
    does: 'Reads one register 20 times.',
    rule: 'Conforms when all values are equal. Inconclusive if the register changes by itself.',
    clause: ROBUSTNESS,
    matters:
      'A client mistakes the odd value for a measurement (catalogue: substituted-block, zero-for-a-poll).',
    mend: 'Copy values into the reply in one step, from one place.',
  },
  {
    ...{ id: 'repeat-pair', grade: 'met', turn: 'late', run: (bench) => repeats(bench, MORE_READS, 2) },
    title: 'Two registers read 60 times',
    does: 'Reads two registers 60 times; no client writes them during this time.',
    rule: 'Conforms when all 60 replies are equal. Inconclusive if the registers change by themselves.',
    clause: ROBUSTNESS,
    matters: 'Halves of two values are combined (catalogue: last-byte-lost, zero-for-a-poll, torn-value).',
    mend: 'Copy values into the reply in one step, from one place.',
  },
  {
    ...{ id: 'repeat-block', grade: 'met', turn: 'late', run: repeatBlock },
    title: 'A block read 60 times',
    does: 'Reads 20 registers (or all, if there are fewer) 60 times, with function 3 and with function 4.',
    rule: 'Conforms when all 60 reads are answered.',
    clause: ROBUSTNESS,
    matters:
      'A server that restarts when it is polled looks like a bad line (catalogue: reboots-when-polled).',
    mend: 'Look for a leak or a watchdog in the code that handles reads.',
  },
]);
