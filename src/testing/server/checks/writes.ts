import { type Exchange, hasValues } from '../asker.js';
import type { Bench } from '../bench.js';
import {
  conforms,
  dangerous,
  type ExpectedRefusal,
  fact,
  inconclusive,
  type Judged,
  judgeRefusal,
  notAnswered,
  notRun,
  type ServerCheck,
  unsupported,
  violates,
} from '../check.js';
import { A } from '../clauses.js';
import { didOf } from '../reading.js';
import { bytesOf, readPdu, readWrite, valuesOf, write15, write16 } from '../requests.js';
import { READ_BACK_MS } from '../scratch.js';
import { codeText } from '../words.js';

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

/** Judges a reply that has to repeat the beginning of its request. */
function echoOf(exchange: Exchange, length: number): Judged {
  const { answer, pdu = new Uint8Array() } = exchange;
  const code = pdu[0] ?? 0;
  if (answer.kind === 'exception' && answer.code === 1)
    return unsupported({ code: 'function-absent', function: code }, exchange);
  if (answer.kind === 'exception') {
    return inconclusive({ code: 'scratch-refuses', function: code, exception: answer.code }, exchange);
  }
  if (answer.kind === 'silent') return notAnswered(code, false, exchange);
  if (answer.kind !== 'data') return violates({ code: 'write-misanswered', answer: didOf(answer) }, exchange);
  const isEcho = Buffer.compare(answer.pdu, pdu.subarray(0, length)) === 0;
  return isEcho
    ? conforms('the reply repeats the request', exchange)
    : violates({ code: 'not-repeated' }, exchange);
}

async function fc06(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  let judged: Judged = conforms('');
  for (const value of [0xa5c3, 0, 0xffff, 0x8000, 0x7fff]) {
    const exchange = await bench.ask(readPdu(6, address, value));
    bench.noteFunction(6, exchange);
    judged = echoOf(exchange, 5);
    if (judged.verdict !== 'conforms') break;
  }
  return judged;
}

async function fc16(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  const exchange = await bench.ask(write16(address, [0x1234]));
  bench.noteFunction(16, exchange);
  const judged = echoOf(exchange, 5);
  if (judged.verdict !== 'conforms') return judged;
  if ((await readsAfter(bench, address, 0x1234)) !== undefined) return judged;
  return dangerous(
    { code: 'never-stored', value: 0x1234, function: 16 },
    exchange,
    bench.log.at(-1) as Exchange,
  );
}

/** Fills blocks of the largest size with the values that they have. */
async function fc16Most(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register(123);
  if ((await bench.words(3, address, 123))?.length !== 123)
    return inconclusive({ code: 'too-few-in-one-read' });
  return echoOf(await bench.ask(write16(address, bench.scratch.values('holding', address, 123))), 5);
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

async function readBack(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  const before = await bench.words(3, address, 1);
  if (!before) return unsupported({ code: 'scratch-not-read' });
  const value = (before[0] ?? 0) ^ (1 + bench.random.below(0x7ffe));
  const written = await writeRegister(bench, address, value);
  if (written.answer.kind !== 'data')
    return inconclusive({ code: 'scratch-not-written', answer: didOf(written.answer) }, written);
  const from = bench.log.length;
  const after = await readsAfter(bench, address, value);
  const shown = [written, ...bench.log.slice(from, from + 1)];
  if (after === 0) return conforms('the value can be read at once', ...shown);
  return after === undefined
    ? violates({ code: 'never-stored', value }, ...shown)
    : violates({ code: 'stored-late', ms: after }, ...shown);
}

/**
 * Sends a malformed write, which has to be refused and must not be executed. The buffer of the server is
 * filled before with values that would be noticed.
 */
async function malformed(
  bench: Bench,
  address: number,
  pdu: Uint8Array,
  refusal: Partial<ExpectedRefusal> = {},
): Promise<Judged> {
  const primed = await writeRegister(bench, address, 0x1155);
  if (primed.answer.kind !== 'data')
    return inconclusive({ code: 'scratch-not-written', answer: didOf(primed.answer) }, primed);
  const before = await bench.words(3, address, 1);
  const exchange = await bench.ask(pdu, { tries: 1 });
  const after = await bench.words(3, address, 1);
  const [[was], [now]] = [before ?? [], after ?? []];
  if (was !== undefined && now !== undefined && was !== now)
    return dangerous({ code: 'malformed-executed', register: address, before: was, now }, exchange);
  return judgeRefusal(exchange, { right: [3], ...refusal });
}

/** @param many how many registers a server may write that looks at the byte count alone */
const onRegister =
  (pdu: (address: number) => readonly number[], many = 1) =>
  async (bench: Bench): Promise<Judged> => {
    const address = await bench.scratch.register(many);
    return malformed(bench, address, Uint8Array.from(pdu(address)));
  };

async function fc16TooMany(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register(124);
  if ((await bench.words(3, address, 124))?.length !== 124)
    return inconclusive({ code: 'own-values-unknown' });
  const values = bench.scratch.values('holding', address, 124);
  const exchange = await bench.ask(write16(address, values), { tries: 1 });
  return judgeRefusal(exchange, { right: [3], silence: 'conforms' });
}

async function mask(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  await writeRegister(bench, address, 0x12);
  const exchange = await bench.ask(Uint8Array.of(22, ...bytesOf(address), 0, 0xf2, 0, 0x25));
  bench.noteFunction(22, exchange);
  const echo = echoOf(exchange, 7);
  if (echo.verdict !== 'conforms') return echo;
  if ((await readsAfter(bench, address, 0x17)) !== undefined)
    return conforms('12 with the masks F2 and 25 becomes 17', exchange);
  const [value] = (await bench.words(3, address, 1)) ?? [];
  return violates({ code: 'mask-wrong', value: value ?? 0 }, exchange, bench.log.at(-1) as Exchange);
}

async function fc23(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  await writeRegister(bench, address, 0x1111);
  const exchange = await bench.ask(readWrite(address, 1, address, 0x2222));
  bench.noteFunction(23, exchange);
  const { answer } = exchange;
  if (answer.kind === 'exception' && answer.code === 1)
    return unsupported({ code: 'function-absent', function: 23 }, exchange);
  if (answer.kind !== 'data') return inconclusive({ code: 'other-answer', answer: didOf(answer) }, exchange);
  const [read] = valuesOf(answer.pdu);
  if (read === 0x2222) return conforms('it writes first, and reads then', exchange);
  return violates(
    read === 0x1111 ? { code: 'reads-before-it-writes' } : { code: 'reads-something-else', value: read },
    exchange,
  );
}

/** Checks of function 23 are about servers that have it. */
const with23 =
  (run: (bench: Bench) => Promise<Judged>) =>
  async (bench: Bench): Promise<Judged> => {
    const address = await bench.scratch.register();
    const { answer } = await bench.ask(readWrite(address, 1, address, 0x1155));
    return answer.kind === 'exception' && answer.code === 1
      ? unsupported({ code: 'function-absent', function: 23 })
      : run(bench);
  };

async function fc23AllOrNothing(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  const absent = await bench.ask(readPdu(3, 0xffff, 1));
  if (hasValues(absent)) return unsupported({ code: 'all-addresses-exist' });
  return malformed(bench, address, readWrite(0xffff, 1, address, 0x4444), {
    right: [2],
    open: { 3: 'it is refused, with another code' },
  });
}

/** Writes the last register together with the one behind it, which is not there; both are in the range. */
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
  // A register may take writes and refuse reads.
  if (exchange.answer.kind !== 'exception' || after !== before) bench.scratch.lose('holding', beyond);
  if (after !== before) return dangerous({ code: 'written-by-half', register: end, beyond }, exchange);
  return judgeRefusal(exchange, { right: [2], open: { 3: 'it is refused, with another code' } });
}

const TEAR_READS = 200;
/** A value of 32 bits, and another, of which each half shows to which it belongs. */
const HALVES: readonly number[] = [0x1111, 0x2222];

/** Writes a value of 32 bits on one connection while it is read on another. */
async function tearing(bench: Bench): Promise<Judged> {
  const { asker, facts } = bench;
  if (facts.pauseMs !== undefined || facts.losses !== undefined)
    return inconclusive({ code: 'pause-in-the-way' });
  if (facts.connections?.served === 1) return unsupported({ code: 'one-connection' });
  const address = await bench.scratch.register(2);
  const opened = await asker.another();
  if (!opened.ok) return unsupported({ code: 'one-connection' });
  const other = opened.value;
  const pdu = readPdu(3, address, 2);
  const torn: Exchange[] = [];
  let reads = 0;
  try {
    for (; reads < TEAR_READS; reads++) {
      const half = HALVES[reads % 2] ?? 0;
      const [written, read] = await Promise.all([
        asker.askOn(other, write16(address, [half, half])),
        asker.once(pdu, { pauseMs: 0, isExpected: true }),
      ]);
      if (written.answer.kind !== 'data')
        return inconclusive({ code: 'second-connection-refuses', answer: didOf(written.answer) }, written);
      const [first, second] = read.answer.kind === 'data' ? valuesOf(read.answer.pdu) : [];
      const isTorn = HALVES.includes(first ?? 0) && HALVES.includes(second ?? 0) && first !== second;
      if (reads > 0 && isTorn) torn.push(read);
    }
  } finally {
    await other.close();
    asker.closed();
  }
  if (torn.length === 1) return inconclusive({ code: 'torn-once' }, ...torn);
  if (torn.length === 0)
    return conforms(`${reads} reads while it was written: both registers were of one value`);
  return {
    ...dangerous({ code: 'torn' }, ...torn.slice(0, 3)),
    seen: { times: torn.length, of: reads },
  };
}

async function tablesSeparate(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  const before = await bench.words(4, address, 1);
  if (!before) return unsupported({ code: 'no-input-register' });
  const value = (before[0] ?? 0) ^ 0x0f0f;
  await writeRegister(bench, address, value);
  const after = await bench.words(4, address, 1);
  return fact({ code: after?.[0] === value ? 'one-table' : 'two-tables' });
}

/** The value of a coil, read with its neighbours: a read of one coil alone may be odd. */
async function coilIs(bench: Bench, coil: number): Promise<boolean | undefined> {
  return ((await bench.bits(1, coil, 8)) ?? (await bench.bits(1, coil, 1)))?.[0];
}

async function fc05(bench: Bench): Promise<Judged> {
  const coil = await bench.scratch.coil();
  let judged: Judged = conforms('');
  for (const [value, wanted] of [
    [0xff00, true],
    [0, false],
  ] as const) {
    const exchange = await bench.ask(readPdu(5, coil, value));
    bench.noteFunction(5, exchange);
    judged = echoOf(exchange, 5);
    if (judged.verdict !== 'conforms') return judged;
    if ((await coilIs(bench, coil)) !== wanted)
      return violates(
        { code: 'coil-not-stored', reads: wanted ? 0 : 1, wrote: `${codeText(value >> 8)}00` },
        exchange,
      );
  }
  return judged;
}

/** Clears a coil by the function that the server has. */
async function clearCoil(bench: Bench, coil: number): Promise<void> {
  const { answer } = await bench.ask(write15(coil, [0]));
  if (answer.kind === 'exception') await bench.ask(readPdu(5, coil, 0));
}

/** @param many how many coils a server may write that looks at the byte count alone */
async function coilMalformed(
  bench: Bench,
  pdus: (coil: number) => readonly (readonly number[])[],
  many = 1,
): Promise<Judged> {
  const coil = await bench.scratch.coil(many);
  let judged: Judged = conforms('');
  for (const pdu of pdus(coil)) {
    await clearCoil(bench, coil);
    const before = await coilIs(bench, coil);
    const exchange = await bench.ask(Uint8Array.from(pdu), { tries: 1 });
    if (before === false && (await coilIs(bench, coil)) === true)
      return dangerous({ code: 'malformed-executed' }, exchange);
    judged = judgeRefusal(exchange, { right: [3] });
    if (judged.verdict !== 'conforms') break;
  }
  return judged;
}

async function fc15(bench: Bench): Promise<Judged> {
  const coil = await bench.scratch.coil();
  const exchange = await bench.ask(Uint8Array.of(15, ...bytesOf(coil), 0, 1, 1, 1));
  bench.noteFunction(15, exchange);
  const judged = echoOf(exchange, 5);
  if (judged.verdict !== 'conforms') return judged;
  return (await coilIs(bench, coil)) === true
    ? judged
    : violates({ code: 'coil-not-stored', reads: 0, wrote: '1' }, exchange);
}

async function fc15TooMany(bench: Bench): Promise<Judged> {
  const coil = await bench.scratch.coil(1969);
  const pdu = write15(coil, bench.scratch.values('coils', coil, 1969));
  return judgeRefusal(await bench.ask(pdu, { tries: 1 }), { right: [3], silence: 'conforms' });
}

/** The rows of this group have these fields in common. */
function row(
  id: string,
  title: string,
  does: string,
  clause: string,
  run: ServerCheck['run'],
  more: Partial<ServerCheck> = {},
): ServerCheck {
  return {
    ...{ id, group: 'writes', title, does, clause: `${A}, ${clause}`, run, grade: 'met', needs: ['holding'] },
    rule: 'Conforms when the reply repeats its request. Where the address takes no writes nothing is decided.',
    matters: 'Clients report a failed write, and repeat it.',
    mend: 'Copy the first bytes of the request into the reply.',
    ...more,
  };
}

const REFUSES: Partial<ServerCheck> = {
  provokes: ['value'],
  rule: 'Conforms with exception 03 and nothing written. Silence decides nothing where it lives on.',
  matters:
    'A disturbed or wrong request becomes a command: cwalter-at/freemodbus#66, cwalter-at/freemodbus#72.',
  mend: 'Compare quantity, byte count and length of the PDU before anything is written.',
  grade: 'seldom',
  turn: 'late',
};
const COIL = ['coils'] as const;

export const WRITES: readonly ServerCheck[] = [
  row(
    'fc06-echo',
    'Writes one register',
    'Writes A5C3, 0, FFFF, 8000 and 7FFF with function 6.',
    '6.6',
    fc06,
  ),
  row(
    'write-read-back',
    'Reads what was written',
    'Writes a value, and reads it at once and after a second.',
    '6.6; SunSpec MOD-3',
    readBack,
    {
      rule: 'Conforms when the value can be read at once.',
      matters:
        'Clients that verify report a failure, or show the old setpoint: WillCodeForCats/solaredge-modbus-multi#197.',
      mend: 'Confirm a write when reads give the new value.',
    },
  ),
  row('fc16-echo', 'Writes registers', 'Writes one register with function 16.', '6.12', fc16),
  row(
    'fc16-quantity-0',
    'Refuses to write no registers',
    'Function 16 with quantity 0.',
    'figure 22',
    onRegister((a) => [16, ...bytesOf(a), 0, 0, 0]),
    REFUSES,
  ),
  row(
    'fc16-byte-count-short',
    'Refuses a byte count that is too small',
    'Function 16: one register, byte count 1, one byte.',
    'figure 22',
    onRegister((a) => [16, ...bytesOf(a), 0, 1, 1, 0x77]),
    REFUSES,
  ),
  row(
    'fc16-byte-count-long',
    'Refuses a byte count that is too large',
    'Function 16: one register, byte count 4, four bytes.',
    'figure 22',
    onRegister((a) => [16, ...bytesOf(a), 0, 1, 4, 0x77, 0x77, 0x77, 0x77], 2),
    { ...REFUSES, room: 2 },
  ),
  row(
    'fc16-data-missing',
    'Refuses a write without all its data',
    'Function 16: one register, byte count 2, one byte.',
    'figure 22; 7, code 03',
    onRegister((a) => [16, ...bytesOf(a), 0, 1, 2, 0x77]),
    REFUSES,
  ),
  row(
    'fc16-quantity-124',
    'Refuses to write 124 registers',
    'Writes 124 registers with the values that they have.',
    'figure 22 and 4.1',
    fc16TooMany,
    { ...REFUSES, room: 124, matters: 'A buffer overflows: stephane/libmodbus#143, stephane/libmodbus#105.' },
  ),
  row(
    'fc16-quantity-123',
    'Writes 123 registers',
    'Writes 123 registers with the values that they have.',
    '6.12',
    fc16Most,
    { room: 123 },
  ),
  row(
    'fc22-mask',
    'Masks a register',
    'Writes 12, and applies the masks F2 and 25 with function 22.',
    '6.16',
    mask,
    { matters: 'Bits get lost.', mend: '(value AND and-mask) OR (or-mask AND NOT and-mask).' },
  ),
  row(
    'write-at-the-end',
    'Writes all registers or none',
    'Writes the last holding register and the one behind it with function 16, where --scratch has both.',
    'figure 22',
    atTheEnd,
    {
      ...REFUSES,
      provokes: ['address'],
      rule: 'Conforms with exception 02 and nothing written.',
      room: 2,
      matters: 'A setpoint is written by half.',
      mend: 'Check address plus quantity before anything is written.',
    },
  ),
  row(
    'tearing',
    'Reads a value as a whole while it is written',
    'Writes a value of 32 bits on one connection, and reads it on another, 200 times.',
    '6.3; robustness (no clause)',
    tearing,
    {
      rule: 'Conforms when both registers are always of one value. One connection: not supported.',
      matters: 'Halves of two values become one: zephyrproject-rtos/zephyr#118221, esphome/esphome#17205.',
      mend: 'Answer a read between two writes, never within one.',
      grade: 'dangerous',
      on: 'tcp',
      room: 2,
      turn: 'late',
      isSeveral: true,
    },
  ),
  row('fc23-order', 'Writes before it reads', 'Function 23 writes a register, and reads it.', '6.17', fc23, {
    matters: 'The client sees the old value: NModbus4/NModbus4#6, steveohara/j2mod#32, stephane/libmodbus#2.',
    mend: 'Write first, then read.',
  }),
  row(
    'fc23-quantity-0',
    'Reads and writes nothing by halves',
    'Function 23 with a read quantity of 0.',
    'figure 27',
    with23(onRegister((a) => [...readWrite(a, 0, a, 0x3333)])),
    REFUSES,
  ),
  row(
    'fc23-all-or-nothing',
    'Writes nothing where the read is refused',
    'Function 23 reads an address that is not there, and writes.',
    'figure 27',
    with23(fc23AllOrNothing),
    { ...REFUSES, provokes: ['address'], rule: 'Conforms with exception 02 and nothing written.' },
  ),
  row(
    'tables-separate',
    'Whether holding and input registers are one table',
    'Writes a holding register, and reads the input register.',
    '4.3',
    tablesSeparate,
    {
      rule: 'Told, not judged.',
      matters: 'Maps of clients may have either.',
      mend: 'Nothing.',
      grade: 'seldom',
    },
  ),
  row(
    'fc05-echo',
    'Writes a coil',
    'Writes FF00 and 0000 with function 5, and reads the coil.',
    '6.5',
    fc05,
    { needs: COIL, matters: 'ClassicDIY/ModbusTool#4 (echoes 0001).' },
  ),
  row(
    'fc05-value-illegal',
    'Refuses another value of a coil',
    'Function 5 with 0001 and FFFF.',
    'figure 15',
    (bench) =>
      coilMalformed(bench, (c) => [
        [5, ...bytesOf(c), 0, 1],
        [5, ...bytesOf(c), 0xff, 0xff],
      ]),
    { ...REFUSES, needs: COIL, matters: 'Relays switch by a wrong value: sourceperl/pyModbusTCP#8.' },
  ),
  row('fc15-echo', 'Writes coils', 'Writes one coil with function 15.', '6.11', fc15, { needs: COIL }),
  row(
    'fc15-quantity-0',
    'Refuses to write no coils',
    'Function 15 with quantity 0.',
    'figure 21',
    (bench) => coilMalformed(bench, (c) => [[15, ...bytesOf(c), 0, 0, 0]]),
    { ...REFUSES, needs: COIL },
  ),
  row(
    'fc15-byte-count',
    'Refuses a wrong byte count of coils',
    'Function 15: one coil, byte count 2.',
    'figure 21',
    (bench) => coilMalformed(bench, (c) => [[15, ...bytesOf(c), 0, 1, 2, 1, 1]], 16),
    { ...REFUSES, needs: COIL, room: 16 },
  ),
  row(
    'fc15-quantity-1969',
    'Refuses to write 1969 coils',
    'Writes 1969 coils with the values that they have.',
    'figure 21',
    fc15TooMany,
    { ...REFUSES, needs: COIL, room: 1969, matters: 'debevv/nanoMODBUS#116' },
  ),
];
