import type { Bench } from '../bench.js';
import {
  absent,
  checksOf,
  conforms,
  dangerous,
  type ExpectedRefusal,
  inconclusive,
  isAbsent,
  type Judged,
  judgeRefusal,
  notRun,
  unlessLossy,
  unsupported,
  worstOf,
} from '../check.js';
import { A } from '../clauses.js';
import { type Exchange, hasValues, isReplied } from '../exchange.js';
import { didOf } from '../reading.js';
import { bytesOf, readPdu, readWrite, write15, write16 } from '../requests.js';
import { READ_BACK_MS } from '../scratch.js';
import { coilIs, readsAfter, sureWord, writeOther, writeRegister } from './written.js';

/** The content of a register before a malformed write. */
const PRIMED = 0x1155;

/**
 * Sends a malformed write, which must be refused and not executed. Before it, the server's buffer is filled
 * with values that would be noticed.
 */
async function malformed(
  bench: Bench,
  address: number,
  pdu: Uint8Array,
  refusal: Partial<ExpectedRefusal> = {},
): Promise<Judged> {
  const [own = 0] = bench.scratch.values('holding', address, 1);
  const { written: primed, value: prime } = await writeOther(bench, address, PRIMED, own);
  if (primed.answer.kind !== 'data')
    return inconclusive({ code: 'scratch-not-written', answer: didOf(primed.answer) }, primed);
  const isMoving = bench.scratch.isMoving('holding', address);
  // Some servers show a written value only a second later.
  if (!isMoving && (await readsAfter(bench, address, prime)) === undefined)
    return inconclusive({ code: 'scratch-not-written', answer: didOf(primed.answer) }, primed);
  const read = async () => (isMoving ? (await bench.words(3, address, 1))?.[0] : sureWord(bench, address));
  const was = isMoving ? await read() : prime;
  const exchange = await bench.ask(pdu, { tries: 1 });
  const [soon] = (await bench.words(3, address, 1)) ?? [];
  // Some servers show an old value for some time after anything like a write.
  if (soon !== was && !isMoving) await bench.asker.wait(READ_BACK_MS.at(-1) ?? 0);
  const now = soon === was ? was : await read();
  const isChanged = was !== undefined && now !== undefined && was !== now;
  // A register that changes on its own has a different value anyway, so only the bytes that were sent show
  // that it was written.
  if (isChanged && !isMoving && !isOf(pdu, now) && (await isReset(bench, address, prime)))
    return inconclusive({ code: 'scratch-resets' }, exchange);
  if (isChanged && (!isMoving || isOf(pdu, now)))
    return dangerous({ code: 'malformed-executed', register: address, before: was, now }, exchange);
  return judgeRefusal(exchange, { right: [3], ...refusal });
}

/**
 * True if a written value is gone on the next connection, whatever is sent in between: the malformed write
 * did not cause it.
 */
async function isReset(bench: Bench, address: number, prime: number): Promise<boolean> {
  await writeRegister(bench, address, prime);
  await readsAfter(bench, address, prime);
  await bench.asker.disconnect();
  return (await sureWord(bench, address)) !== prime;
}

/** True if a value consists of the last bytes of a malformed write. */
function isOf(pdu: Uint8Array, value: number): boolean {
  const byte = pdu.at(-1);
  return value >> 8 === byte && (value & 0xff) === byte;
}

/** @param many how many registers a server may write if it considers only the byte count */
const onRegister =
  (pdus: (address: number) => readonly (readonly number[])[], many = 1) =>
  async (bench: Bench): Promise<Judged> => {
    const address = await bench.scratch.register(many);
    const judgements: Judged[] = [];
    for (const pdu of pdus(address)) {
      judgements.push(await malformed(bench, address, Uint8Array.from(pdu)));
      if (judgements.at(-1)?.verdict === 'violates') break;
    }
    return worstOf(judgements);
  };

const BEHIND = 0x0c0c;

/** Sends a write without its data, followed by a read on the same connection, which a server may take for the data. */
async function dataMissing(bench: Bench): Promise<Judged> {
  const pdu = (address: number) => [16, ...bytesOf(address), 0, 1, 2, 0x77];
  const judged = await onRegister((address) => [pdu(address)])(bench);
  const { asker } = bench;
  if (judged.said.code !== 'not-refused-lives-on' || asker.isSerial) return judged;
  const address = await bench.scratch.register();
  const first = await asker.once(Uint8Array.from(pdu(address)), { keepsOpen: true });
  if (first.answer.kind !== 'silent') return judged;
  // Sent as raw pieces, so that the reply is judged only here.
  const pieces = [{ bytes: bench.frameOf(undefined, undefined, BEHIND) }];
  const next = await bench.askGood({ transactionId: BEHIND, pieces, keepsOpen: true });
  await asker.disconnect();
  return !isReplied(next.answer) && !next.isFirst
    ? unlessLossy(bench, { code: 'next-eaten' }, first, next)
    : judged;
}

async function fc16TooMany(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register(124);
  if ((await bench.words(3, address, 124))?.length !== 124)
    return inconclusive({ code: 'own-values-unknown' });
  const values = bench.scratch.values('holding', address, 124);
  const exchange = await bench.ask(write16(address, values), { tries: 1 });
  return judgeRefusal(exchange, { right: [3], silence: 'conforms' });
}

/** Makes a check of function 23 apply only to servers that have it. */
const with23 =
  (run: (bench: Bench) => Promise<Judged>) =>
  async (bench: Bench): Promise<Judged> => {
    const address = await bench.scratch.register();
    const tried = await bench.ask(readWrite(address, 1, address, 0x1155));
    return isAbsent(tried) ? absent(tried) : run(bench);
  };

async function fc23AllOrNothing(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  const absent = await bench.ask(readPdu(3, 0xffff, 1));
  if (hasValues(absent)) return unsupported({ code: 'all-addresses-exist' });
  return malformed(bench, address, readWrite(0xffff, 1, address, 0x4444), {
    right: [2],
    open: { 3: 'refused-otherwise' },
  });
}

/** Writes the last register together with the next address, which does not exist; both are in the range. */
async function atTheEnd(bench: Bench): Promise<Judged> {
  const { last } = bench.order.scratch.holding ?? { last: 0 };
  const isThere = async (address: number) => hasValues(await bench.ask(readPdu(3, address, 1)));
  const { answer } = await bench.ask(readPdu(3, last, 1));
  if (answer.kind !== 'exception' || answer.code !== 2) return notRun({ code: 'needs-scratch-beyond-end' });
  let [end, beyond] = [await bench.scratch.register(), last];
  while (beyond - end > 1) {
    const middle = (end + beyond) >> 1;
    if (await isThere(middle)) end = middle;
    else beyond = middle;
  }
  await bench.scratch.keep('holding', end, 1);
  const [before = 0] = (await bench.words(3, end, 1)) ?? [];
  const exchange = await bench.ask(write16(end, [before ^ 0x5555, 0x5555]), { tries: 1 });
  const [after = before] = (await bench.words(3, end, 1)) ?? [];
  // A register may accept writes and refuse reads. If the server refuses the write, it has not written an
  // address that it lacks.
  if (exchange.answer.kind !== 'exception') bench.scratch.lose('holding', beyond);
  if (after !== before) return dangerous({ code: 'written-by-half', register: end, beyond }, exchange);
  return judgeRefusal(exchange, { right: [2], open: { 3: 'refused-otherwise' } });
}

/** Sets a coil with a function that the server has. */
async function setCoil(bench: Bench, coil: number, to: 0 | 1): Promise<Exchange> {
  const done = await bench.ask(write15(coil, [to]));
  return done.answer.kind === 'exception' ? bench.ask(readPdu(5, coil, to * 0xff00)) : done;
}

/** @param many how many coils a server may write if it considers only the byte count */
async function coilMalformed(
  bench: Bench,
  pdus: (coil: number) => readonly (readonly number[])[],
  many = 1,
  from: 0 | 1 = 0,
): Promise<Judged> {
  const coil = await bench.scratch.coil(many);
  let judged: Judged = conforms({ code: 'repeated' });
  for (const pdu of pdus(coil)) {
    const primed = await setCoil(bench, coil, from);
    if (primed.answer.kind !== 'data')
      return inconclusive({ code: 'scratch-not-written', answer: didOf(primed.answer) }, primed);
    const before = await coilIs(bench, coil);
    const exchange = await bench.ask(Uint8Array.from(pdu), { tries: 1 });
    const isOther = async () => (await coilIs(bench, coil)) === (from === 0);
    const isSet = before === (from === 1) && (await isOther()) && (await isOther());
    if (isSet && !bench.scratch.isMoving('coils', coil)) {
      await setCoil(bench, coil, from);
      await bench.asker.disconnect();
      if (await isOther()) return inconclusive({ code: 'scratch-resets' }, exchange);
    }
    if (isSet && !bench.scratch.isMoving('coils', coil))
      return dangerous({ code: 'malformed-executed', coil, before: from, now: 1 - from }, exchange);
    judged = judgeRefusal(exchange, { right: [3] });
    if (judged.verdict !== 'conforms') break;
  }
  return judged;
}

/** Function 5 with values that are neither FF00 nor 0000. */
const badValues = (coil: number) => [
  [5, ...bytesOf(coil), 0, 1],
  [5, ...bytesOf(coil), 0xff, 0xff],
];

async function fc15TooMany(bench: Bench): Promise<Judged> {
  const coil = await bench.scratch.coil(1969);
  const pdu = write15(coil, bench.scratch.values('coils', coil, 1969));
  return judgeRefusal(await bench.ask(pdu, { tries: 1 }), { right: [3], silence: 'conforms' });
}

export const MALFORMED_WRITES = checksOf(
  {
    ...{ group: 'writes', grade: 'seldom', turn: 'late', needs: ['holding'], provokes: ['value'] },
    rule: 'Conforms when the reply is exception 03 and nothing is written. Silence is inconclusive if the server keeps working.',
    matters:
      'A damaged or wrong request becomes a command: cwalter-at/freemodbus#66, cwalter-at/freemodbus#72.',
    mend: 'Compare quantity, byte count and length of the PDU before writing anything.',
  },
  [
    {
      ...{ id: 'fc16-quantity-0', run: onRegister((a) => [[16, ...bytesOf(a), 0, 0, 0]]) },
      title: 'Refuses a write of zero registers',
      does: 'Function 16 with quantity 0.',
      clause: `${A}, figure 22`,
    },
    {
      ...{ id: 'fc16-byte-count-short' },
      title: 'Refuses a byte count that is too small',
      does: 'Function 16: one register, byte count 1, once with one byte and once with two.',
      clause: `${A}, figure 22`,
      run: onRegister((a) => [
        [16, ...bytesOf(a), 0, 1, 1, 0x77],
        [16, ...bytesOf(a), 0, 1, 1, 0x77, 0x77],
      ]),
    },
    {
      ...{ id: 'fc16-byte-count-long', room: 2 },
      title: 'Refuses a byte count that is too large',
      does: 'Function 16: one register, byte count 4, once with four bytes and once with two.',
      clause: `${A}, figure 22`,
      run: onRegister(
        (a) => [
          [16, ...bytesOf(a), 0, 1, 4, 0x77, 0x77, 0x77, 0x77],
          [16, ...bytesOf(a), 0, 1, 4, 0x77, 0x77],
        ],
        2,
      ),
    },
    {
      ...{ id: 'fc16-data-missing', run: dataMissing },
      title: 'Refuses a write with missing data',
      does: 'Function 16: one register, byte count 2, one byte.',
      clause: `${A}, figure 22; 7, code 03`,
    },
    {
      ...{ id: 'fc16-quantity-124', room: 124, run: fc16TooMany },
      title: 'Refuses a write of 124 registers',
      does: 'Writes 124 registers with their current values.',
      clause: `${A}, figure 22 and 4.1`,
      matters: 'A buffer overflows: stephane/libmodbus#143, stephane/libmodbus#105.',
    },
    {
      ...{ id: 'write-at-the-end', room: 2, provokes: ['address'], run: atTheEnd },
      title: 'Writes all registers or none',
      does: 'Writes the last holding register and the next address with function 16, if --scratch has both.',
      rule: 'Conforms when the reply is exception 02 and nothing is written.',
      clause: `${A}, figure 22`,
      matters: 'A setpoint is only half written.',
      mend: 'Check address plus quantity before writing anything.',
    },
    {
      ...{ id: 'fc23-quantity-0' },
      title: 'Reads and writes all or nothing',
      does: 'Function 23 with a read quantity of 0.',
      clause: `${A}, figure 27`,
      run: with23(onRegister((a) => [[...readWrite(a, 0, a, 0x3333)]])),
    },
    {
      ...{ id: 'fc23-all-or-nothing', provokes: ['address'], run: with23(fc23AllOrNothing) },
      title: 'Writes nothing if the read is refused',
      does: 'Function 23 reads an address that does not exist, and writes.',
      rule: 'Conforms when the reply is exception 02 and nothing is written.',
      clause: `${A}, figure 27`,
    },
    {
      ...{ id: 'fc05-value-illegal', needs: ['coils'] },
      title: 'Refuses an invalid coil value',
      does: 'Function 5 with the values 0001 and FFFF, for a coil that is 0 and for one that is 1.',
      clause: `${A}, figure 15`,
      matters: 'A wrong value switches a relay: sourceperl/pyModbusTCP#8.',
      run: async (bench) => {
        const judgements: Judged[] = [];
        for (const from of [0, 1] as const) judgements.push(await coilMalformed(bench, badValues, 1, from));
        return judgements.find(({ grade }) => grade === 'dangerous') ?? worstOf(judgements);
      },
    },
    {
      ...{ id: 'fc15-quantity-0', needs: ['coils'] },
      title: 'Refuses a write of zero coils',
      does: 'Function 15 with quantity 0.',
      clause: `${A}, figure 21`,
      run: (bench) => coilMalformed(bench, (c) => [[15, ...bytesOf(c), 0, 0, 0]]),
    },
    {
      ...{ id: 'fc15-byte-count', needs: ['coils'], room: 16 },
      title: 'Refuses a wrong byte count for coils',
      does: 'Function 15: one coil, byte count 2.',
      clause: `${A}, figure 21`,
      run: (bench) => coilMalformed(bench, (c) => [[15, ...bytesOf(c), 0, 1, 2, 1, 1]], 16),
    },
    {
      ...{ id: 'fc15-quantity-1969', needs: ['coils'], room: 1969, run: fc15TooMany },
      title: 'Refuses a write of 1969 coils',
      does: 'Writes 1969 coils with their current values.',
      clause: `${A}, figure 21`,
      matters: 'debevv/nanoMODBUS#116',
    },
  ],
);
