import { concatBytes, packBits, packWords } from '../../../modbus/protocol/bytes.js';
import { type Exchange, hasValues } from '../asker.js';
import { type AddressSpan, type Bench, readPdu, valuesOf } from '../bench.js';
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
import { answerText, codeText, timeText } from '../words.js';

/** How many registers, or coils, one request puts back. */
const AT_ONCE = 100;

/** Returns the scratch register. Before its first use, the whole range is read, to be put back. */
export async function scratchRegister(bench: Bench): Promise<number> {
  const span = bench.order.scratch.holding ?? { first: 0, last: 0 };
  await keep(bench, 3, span);
  return span.first;
}

async function scratchCoil(bench: Bench): Promise<number> {
  const span = bench.order.scratch.coils ?? { first: 0, last: 0 };
  await keep(bench, 1, span);
  return span.first;
}

/** Keeps the values of a range, once, and puts them back when the inspection ends. */
async function keep(bench: Bench, code: 1 | 3, { first, last }: AddressSpan): Promise<void> {
  if (bench.kept.has(code)) return;
  bench.kept.add(code);
  for (let from = first; from <= last; from += AT_ONCE) {
    const many = Math.min(AT_ONCE, last - from + 1);
    const span = { first: from, last: from + many - 1 };
    if (code === 3) {
      const values = await bench.words(3, from, many);
      if (values)
        bench.undo.push({ ...span, table: 'holding', putBack: () => writeRegisters(bench, from, values) });
    } else {
      const values = await bench.bits(1, from, many);
      if (values)
        bench.undo.push({ ...span, table: 'coils', putBack: () => writeCoils(bench, from, values) });
    }
  }
}

const write16 = (address: number, values: readonly number[]) =>
  concatBytes([16, address >> 8, address & 0xff, 0, values.length, 2 * values.length], packWords(values));

/** Writes registers, one by one where a block is refused. False when the server does not take them. */
function writeRegisters(bench: Bench, address: number, values: readonly number[]): Promise<boolean> {
  return writeAll(
    bench,
    write16(address, values),
    values.map((value, i) => readPdu(6, address + i, value)),
  );
}

function writeCoils(bench: Bench, address: number, values: readonly boolean[]): Promise<boolean> {
  const bits = packBits(values);
  return writeAll(
    bench,
    concatBytes([15, address >> 8, address & 0xff, 0, values.length, bits.length], bits),
    values.map((value, i) => readPdu(5, address + i, value ? 0xff00 : 0)),
  );
}

async function writeAll(bench: Bench, block: Uint8Array, singles: readonly Uint8Array[]): Promise<boolean> {
  const { answer } = await bench.ask(block);
  if (answer.kind !== 'exception') return answer.kind === 'data';
  let isWritten = true;
  for (const pdu of singles) {
    const single = (await bench.ask(pdu)).answer.kind;
    if (single !== 'data') isWritten = false;
    // A server that is gone would be asked for as long as all of them take.
    if (single === 'silent' || single === 'closed') break;
  }
  return isWritten;
}

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
    return unsupported(`function ${code} is not there`, exchange);
  if (answer.kind === 'exception') {
    return inconclusive(
      `the scratch address refuses function ${code} with exception ${codeText(answer.code)}; name one that takes writes`,
      exchange,
    );
  }
  if (answer.kind === 'silent') return notAnswered(code, false, exchange);
  if (answer.kind !== 'data') return violates(`the server ${answerText(answer)}`, exchange);
  const isEcho = Buffer.compare(answer.pdu, pdu.subarray(0, length)) === 0;
  return isEcho
    ? conforms('the reply repeats the request', exchange)
    : violates('the reply does not repeat the request', exchange);
}

async function fc06(bench: Bench): Promise<Judged> {
  const address = await scratchRegister(bench);
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
  const address = await scratchRegister(bench);
  const exchange = await bench.ask(write16(address, [0x1234]));
  bench.noteFunction(16, exchange);
  return echoOf(exchange, 5);
}

/** Fills blocks of the largest size with the values that they have. */
async function fc16Most(bench: Bench): Promise<Judged> {
  const address = await scratchRegister(bench);
  const values = await bench.words(3, address, 123);
  if (!values) return inconclusive('123 registers in one read are refused');
  return echoOf(await bench.ask(write16(address, values)), 5);
}

/** When a value that was written may be read, in ms after the write; the last time a server gets. */
const READ_BACK_MS = [0, 1000, 2000];

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
  const address = await scratchRegister(bench);
  const before = await bench.words(3, address, 1);
  if (!before) return unsupported('function 3 does not read the scratch register');
  const value = (before[0] ?? 0) ^ (1 + bench.random.below(0x7ffe));
  const written = await writeRegister(bench, address, value);
  if (written.answer.kind !== 'data')
    return inconclusive(
      `the scratch register is not written: the server ${answerText(written.answer)}`,
      written,
    );
  const from = bench.log.length;
  const after = await readsAfter(bench, address, value);
  const shown = [written, ...bench.log.slice(from, from + 1)];
  if (after === 0) return conforms('the value can be read at once', ...shown);
  return after === undefined
    ? violates(`${value} was written and confirmed, and is never read`, ...shown)
    : violates(`the old value is read at once, and the new one ${timeText(after)} later`, ...shown);
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
    return inconclusive(
      `the scratch register is not written: the server ${answerText(primed.answer)}`,
      primed,
    );
  const before = await bench.words(3, address, 1);
  const exchange = await bench.ask(pdu, { tries: 1 });
  const after = await bench.words(3, address, 1);
  if (before && after && before[0] !== after[0]) {
    return dangerous(
      `register ${address} read ${before[0]}, now ${after[0]}: the malformed request is executed`,
      exchange,
    );
  }
  return judgeRefusal(exchange, { right: [3], ...refusal });
}

const onRegister =
  (pdu: (address: number) => readonly number[], refusal?: Partial<ExpectedRefusal>) =>
  async (bench: Bench): Promise<Judged> => {
    const address = await scratchRegister(bench);
    return malformed(bench, address, Uint8Array.from(pdu(address)), refusal);
  };

const at = (address: number) => [address >> 8, address & 0xff] as const;

async function fc16TooMany(bench: Bench): Promise<Judged> {
  const address = await scratchRegister(bench);
  const values = [...((await bench.words(3, address, 124)) ?? [])];
  if (values.length < 124)
    return inconclusive('124 registers are not read, so they are not written with their own values');
  const exchange = await bench.ask(write16(address, values), { tries: 1 });
  return judgeRefusal(exchange, { right: [3], silence: 'conforms' });
}

async function mask(bench: Bench): Promise<Judged> {
  const address = await scratchRegister(bench);
  await writeRegister(bench, address, 0x12);
  const exchange = await bench.ask(Uint8Array.of(22, ...at(address), 0, 0xf2, 0, 0x25));
  bench.noteFunction(22, exchange);
  const echo = echoOf(exchange, 7);
  if (echo.verdict !== 'conforms') return echo;
  if ((await readsAfter(bench, address, 0x17)) !== undefined)
    return conforms('12 with the masks F2 and 25 becomes 17', exchange);
  const [value] = (await bench.words(3, address, 1)) ?? [];
  return violates(
    `12 with the masks F2 and 25 becomes ${codeText(value ?? 0)}, not 17`,
    exchange,
    bench.log.at(-1) as Exchange,
  );
}

const readWrite = (address: number, quantity: number, target: number, value: number) =>
  Uint8Array.of(23, ...at(address), 0, quantity, ...at(target), 0, 1, 2, value >> 8, value & 0xff);

async function fc23(bench: Bench): Promise<Judged> {
  const address = await scratchRegister(bench);
  await writeRegister(bench, address, 0x1111);
  const exchange = await bench.ask(readWrite(address, 1, address, 0x2222));
  bench.noteFunction(23, exchange);
  const { answer } = exchange;
  if (answer.kind === 'exception' && answer.code === 1)
    return unsupported('function 23 is not there', exchange);
  if (answer.kind !== 'data') return inconclusive(`the server ${answerText(answer)}`, exchange);
  const [read] = valuesOf(answer.pdu);
  if (read === 0x2222) return conforms('it writes first, and reads then', exchange);
  return violates(read === 0x1111 ? 'it reads first, and writes then' : `it reads ${read}`, exchange);
}

/** Checks of function 23 are about servers that have it. */
const with23 =
  (run: (bench: Bench) => Promise<Judged>) =>
  async (bench: Bench): Promise<Judged> => {
    const address = await scratchRegister(bench);
    const { answer } = await bench.ask(readWrite(address, 1, address, 0x1155));
    return answer.kind === 'exception' && answer.code === 1
      ? unsupported('function 23 is not there')
      : run(bench);
  };

async function fc23AllOrNothing(bench: Bench): Promise<Judged> {
  const address = await scratchRegister(bench);
  const absent = await bench.ask(readPdu(3, 0xffff, 1));
  if (hasValues(absent)) return unsupported('every address exists');
  return malformed(bench, address, readWrite(0xffff, 1, address, 0x4444), {
    right: [2],
    open: { 3: 'it is refused, with another code' },
  });
}

/** Writes the last register together with the one behind it, which is not there. */
async function atTheEnd(bench: Bench): Promise<Judged> {
  await scratchRegister(bench);
  const last = bench.order.scratch.holding?.last ?? 0;
  if (last === 0xffff || hasValues(await bench.ask(readPdu(3, last + 1, 1))))
    return notRun('it needs --scratch that ends with the last holding register');
  const [before] = (await bench.words(3, last, 1)) ?? [];
  if (before === undefined) return inconclusive(`register ${last} is not read`);
  const exchange = await bench.ask(write16(last, [before ^ 0x5555, 0x5555]), { tries: 1 });
  const [after] = (await bench.words(3, last, 1)) ?? [];
  if (after !== undefined && after !== before)
    return dangerous(`register ${last} is written, and register ${last + 1} is not there`, exchange);
  return judgeRefusal(exchange, { right: [2], open: { 3: 'it is refused, with another code' } });
}

const TEAR_READS = 200;
/** A value of 32 bits, and another, of which each half shows to which it belongs. */
const HALVES: readonly number[] = [0x1111, 0x2222];

/** Writes a value of 32 bits on one connection while it is read on another. */
async function tearing(bench: Bench): Promise<Judged> {
  const { asker, facts } = bench;
  if (facts.pauseMs !== undefined || facts.losses !== undefined)
    return inconclusive('it needs a pause between requests: see back-to-back');
  if (facts.connections?.startsWith('1 ')) return unsupported('it has one connection');
  const address = await scratchRegister(bench);
  const opened = await asker.another();
  if (!opened.ok) return unsupported('it has one connection');
  const other = opened.value;
  const pdu = readPdu(3, address, 2);
  const torn: Exchange[] = [];
  let reads = 0;
  try {
    for (; reads < TEAR_READS && !asker.isStopped(); reads++) {
      const half = HALVES[reads % 2] ?? 0;
      const [written, read] = await Promise.all([
        asker.askOn(other, write16(address, [half, half])),
        asker.once(pdu, { pauseMs: 0, isExpected: true }),
      ]);
      if (written.answer.kind !== 'data')
        return inconclusive(
          `function 16 on a second connection: the server ${answerText(written.answer)}`,
          written,
        );
      const [first, second] = read.answer.kind === 'data' ? valuesOf(read.answer.pdu) : [];
      const isTorn = HALVES.includes(first ?? 0) && HALVES.includes(second ?? 0) && first !== second;
      if (reads > 0 && isTorn) torn.push(read);
    }
  } finally {
    await other.close();
    asker.closed();
  }
  if (torn.length === 1)
    return inconclusive('once, half of a value was old; a longer run decides (--soak)', ...torn);
  if (torn.length === 0)
    return conforms(`${reads} reads while it was written: both registers were of one value`);
  return {
    ...dangerous(
      'reads while it is written have one register of the old value and one of the new',
      ...torn.slice(0, 3),
    ),
    seen: { times: torn.length, of: reads },
  };
}

async function tablesSeparate(bench: Bench): Promise<Judged> {
  const address = await scratchRegister(bench);
  const before = await bench.words(4, address, 1);
  if (!before) return unsupported('function 4 does not read this address');
  const value = (before[0] ?? 0) ^ 0x0f0f;
  await writeRegister(bench, address, value);
  const after = await bench.words(4, address, 1);
  return fact(
    after?.[0] === value
      ? 'holding and input registers are one table'
      : 'holding and input registers are separate',
  );
}

/** The value of a coil, read with its neighbours: a read of one coil alone may be odd. */
async function coilIs(bench: Bench, coil: number): Promise<boolean | undefined> {
  return ((await bench.bits(1, coil, 8)) ?? (await bench.bits(1, coil, 1)))?.[0];
}

async function fc05(bench: Bench): Promise<Judged> {
  const coil = await scratchCoil(bench);
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
        `the coil reads ${wanted ? 0 : 1} after ${codeText(value >> 8)}00 was confirmed`,
        exchange,
      );
  }
  return judged;
}

async function coilMalformed(
  bench: Bench,
  pdus: (coil: number) => readonly (readonly number[])[],
): Promise<Judged> {
  const coil = await scratchCoil(bench);
  let judged: Judged = conforms('');
  for (const pdu of pdus(coil)) {
    await writeCoils(bench, coil, [false]);
    const before = await coilIs(bench, coil);
    const exchange = await bench.ask(Uint8Array.from(pdu), { tries: 1 });
    if (before === false && (await coilIs(bench, coil)) === true)
      return dangerous('the malformed request is executed', exchange);
    judged = judgeRefusal(exchange, { right: [3] });
    if (judged.verdict !== 'conforms') break;
  }
  return judged;
}

async function fc15(bench: Bench): Promise<Judged> {
  const coil = await scratchCoil(bench);
  const exchange = await bench.ask(Uint8Array.of(15, ...at(coil), 0, 1, 1, 1));
  bench.noteFunction(15, exchange);
  const judged = echoOf(exchange, 5);
  if (judged.verdict !== 'conforms') return judged;
  return (await coilIs(bench, coil)) === true
    ? judged
    : violates('the coil reads 0 after 1 was confirmed', exchange);
}

async function fc15TooMany(bench: Bench): Promise<Judged> {
  const coil = await scratchCoil(bench);
  const bits = packBits((await bench.bits(1, coil, 1969)) ?? []);
  if (bits.length < 247)
    return inconclusive('1969 coils are not read, so they are not written with their own values');
  return judgeRefusal(await bench.ask(concatBytes([15, ...at(coil), 0x07, 0xb1, 247], bits), { tries: 1 }), {
    right: [3],
    silence: 'conforms',
  });
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
    onRegister((a) => [16, ...at(a), 0, 0, 0]),
    REFUSES,
  ),
  row(
    'fc16-byte-count-short',
    'Refuses a byte count that is too small',
    'Function 16: one register, byte count 1, one byte.',
    'figure 22',
    onRegister((a) => [16, ...at(a), 0, 1, 1, 0x77]),
    REFUSES,
  ),
  row(
    'fc16-byte-count-long',
    'Refuses a byte count that is too large',
    'Function 16: one register, byte count 4, four bytes.',
    'figure 22',
    onRegister((a) => [16, ...at(a), 0, 1, 4, 0x77, 0x77, 0x77, 0x77]),
    { ...REFUSES, room: 2 },
  ),
  row(
    'fc16-data-missing',
    'Refuses a write without all its data',
    'Function 16: one register, byte count 2, one byte.',
    'figure 22; 7, code 03',
    onRegister((a) => [16, ...at(a), 0, 1, 2, 0x77]),
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
    'Writes the last register of the map and the one behind it with function 16, where --scratch ends with the last.',
    'figure 22',
    atTheEnd,
    {
      ...REFUSES,
      provokes: ['address'],
      rule: 'Conforms with exception 02 and nothing written.',
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
        [5, ...at(c), 0, 1],
        [5, ...at(c), 0xff, 0xff],
      ]),
    { ...REFUSES, needs: COIL, matters: 'Relays switch by a wrong value: sourceperl/pyModbusTCP#8.' },
  ),
  row('fc15-echo', 'Writes coils', 'Writes one coil with function 15.', '6.11', fc15, { needs: COIL }),
  row(
    'fc15-quantity-0',
    'Refuses to write no coils',
    'Function 15 with quantity 0.',
    'figure 21',
    (bench) => coilMalformed(bench, (c) => [[15, ...at(c), 0, 0, 0]]),
    { ...REFUSES, needs: COIL },
  ),
  row(
    'fc15-byte-count',
    'Refuses a wrong byte count of coils',
    'Function 15: one coil, byte count 2.',
    'figure 21',
    (bench) => coilMalformed(bench, (c) => [[15, ...at(c), 0, 1, 2, 1, 1]]),
    { ...REFUSES, needs: COIL },
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
