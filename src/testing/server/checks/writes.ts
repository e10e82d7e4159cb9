import type { Bench } from '../bench.js';
import {
  absent,
  checksOf,
  conforms,
  counted,
  dangerous,
  fact,
  inconclusive,
  isAbsent,
  type Judged,
  notAnswered,
  unsupported,
  violates,
} from '../check.js';
import { A } from '../clauses.js';
import type { Exchange } from '../exchange.js';
import { didOf } from '../reading.js';
import { bytesOf, readPdu, readWrite, valuesOf, write16 } from '../requests.js';
import { codeText } from '../words.js';
import { coilIs, readsAfter, writeRegister } from './written.js';

/** Judges a reply that has to repeat the beginning of its request. */
function echoOf(exchange: Exchange, length: number): Judged {
  const { answer, pdu = new Uint8Array() } = exchange;
  const code = pdu[0] ?? 0;
  if (isAbsent(exchange)) return absent(exchange);
  if (answer.kind === 'exception') {
    return inconclusive({ code: 'scratch-refuses', function: code, exception: answer.code }, exchange);
  }
  if (answer.kind === 'silent') return notAnswered(exchange, false);
  if (answer.kind !== 'data') return violates({ code: 'write-misanswered', answer: didOf(answer) }, exchange);
  const isEcho = Buffer.compare(answer.pdu, pdu.subarray(0, length)) === 0;
  return isEcho ? conforms({ code: 'repeated' }, exchange) : violates({ code: 'not-repeated' }, exchange);
}

async function fc06(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  let judged: Judged = conforms({ code: 'repeated' });
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
  if (after === 0) return conforms({ code: 'read-at-once' }, ...shown);
  return after === undefined
    ? violates({ code: 'never-stored', value }, ...shown)
    : violates({ code: 'stored-late', ms: after }, ...shown);
}

async function mask(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  await writeRegister(bench, address, 0x12);
  const exchange = await bench.ask(Uint8Array.of(22, ...bytesOf(address), 0, 0xf2, 0, 0x25));
  bench.noteFunction(22, exchange);
  const echo = echoOf(exchange, 7);
  if (echo.verdict !== 'conforms') return echo;
  if ((await readsAfter(bench, address, 0x17)) !== undefined) return conforms({ code: 'masked' }, exchange);
  const [value] = (await bench.words(3, address, 1)) ?? [];
  return violates({ code: 'mask-wrong', value: value ?? 0 }, exchange, bench.log.at(-1) as Exchange);
}

async function fc23(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  await writeRegister(bench, address, 0x1111);
  const exchange = await bench.ask(readWrite(address, 1, address, 0x2222));
  bench.noteFunction(23, exchange);
  const { answer } = exchange;
  if (isAbsent(exchange)) return absent(exchange);
  if (answer.kind !== 'data') return inconclusive({ code: 'other-answer', answer: didOf(answer) }, exchange);
  const [read] = valuesOf(answer.pdu);
  if (read === 0x2222) return conforms({ code: 'writes-before-it-reads' }, exchange);
  return violates(
    read === 0x1111
      ? { code: 'reads-before-it-writes' }
      : { code: 'reads-something-else', value: read === undefined ? [] : [read] },
    exchange,
  );
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
  if (torn.length === 0) return conforms({ code: 'not-torn', of: reads });
  return counted(dangerous, { code: 'torn' }, torn, reads);
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

async function fc05(bench: Bench): Promise<Judged> {
  const coil = await bench.scratch.coil();
  let judged: Judged = conforms({ code: 'repeated' });
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

export const WRITES = checksOf(
  {
    ...{ group: 'writes', grade: 'met', needs: ['holding'] },
    rule: 'Conforms when the reply repeats its request. Where the address takes no writes nothing is decided.',
    matters: 'Clients report a failed write, and repeat it.',
    mend: 'Copy the first bytes of the request into the reply.',
  },
  [
    {
      ...{ id: 'fc06-echo', run: fc06 },
      title: 'Writes one register',
      does: 'Writes A5C3, 0, FFFF, 8000 and 7FFF with function 6.',
      clause: `${A}, 6.6`,
    },
    {
      ...{ id: 'write-read-back', run: readBack },
      title: 'Reads what was written',
      does: 'Writes a value, and reads it at once and after a second.',
      rule: 'Conforms when the value can be read at once.',
      clause: `${A}, 6.6; SunSpec MOD-3`,
      matters:
        'Clients that verify report a failure, or show the old setpoint: WillCodeForCats/solaredge-modbus-multi#197.',
      mend: 'Confirm a write when reads give the new value.',
    },
    {
      ...{ id: 'fc16-echo', run: fc16 },
      title: 'Writes registers',
      does: 'Writes one register with function 16.',
      clause: `${A}, 6.12`,
    },
    {
      ...{ id: 'fc16-quantity-123', room: 123, run: fc16Most },
      title: 'Writes 123 registers',
      does: 'Writes 123 registers with the values that they have.',
      clause: `${A}, 6.12`,
    },
    {
      ...{ id: 'fc22-mask', run: mask },
      title: 'Masks a register',
      does: 'Writes 12, and applies the masks F2 and 25 with function 22.',
      clause: `${A}, 6.16`,
      matters: 'Bits get lost.',
      mend: '(value AND and-mask) OR (or-mask AND NOT and-mask).',
    },
    {
      ...{ id: 'tearing', grade: 'dangerous', on: 'tcp', turn: 'late', room: 2, isSeveral: true },
      ...{ run: tearing },
      title: 'Reads a value as a whole while it is written',
      does: 'Writes a value of 32 bits on one connection, and reads it on another, 200 times.',
      rule: 'Conforms when both registers are always of one value. One connection: not supported.',
      clause: `${A}, 6.3; robustness (no clause)`,
      matters: 'Halves of two values become one: zephyrproject-rtos/zephyr#118221, esphome/esphome#17205.',
      mend: 'Answer a read between two writes, never within one.',
    },
    {
      ...{ id: 'fc23-order', run: fc23 },
      title: 'Writes before it reads',
      does: 'Function 23 writes a register, and reads it.',
      clause: `${A}, 6.17`,
      matters:
        'The client sees the old value: NModbus4/NModbus4#6, steveohara/j2mod#32, stephane/libmodbus#2.',
      mend: 'Write first, then read.',
    },
    {
      ...{ id: 'tables-separate', grade: 'seldom', run: tablesSeparate },
      title: 'Whether holding and input registers are one table',
      does: 'Writes a holding register, and reads the input register.',
      rule: 'Told, not judged.',
      clause: `${A}, 4.3`,
      matters: 'Maps of clients may have either.',
      mend: 'Nothing.',
    },
    {
      ...{ id: 'fc05-echo', needs: ['coils'], run: fc05 },
      title: 'Writes a coil',
      does: 'Writes FF00 and 0000 with function 5, and reads the coil.',
      clause: `${A}, 6.5`,
      matters: 'ClassicDIY/ModbusTool#4 (echoes 0001).',
    },
    {
      ...{ id: 'fc15-echo', needs: ['coils'], run: fc15 },
      title: 'Writes coils',
      does: 'Writes one coil with function 15.',
      clause: `${A}, 6.11`,
    },
  ],
);
