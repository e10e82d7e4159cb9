import { MAX_REGISTERS_WRITTEN } from '../../../modbus/protocol/limits.js';
import type { Bench } from '../bench.js';
import {
  checksOf,
  conforms,
  counted,
  dangerous,
  fact,
  inconclusive,
  type Judged,
  lossy,
  unsupported,
  violates,
} from '../check.js';
import { A } from '../clauses.js';
import type { Exchange } from '../exchange.js';
import { didOf } from '../reading.js';
import {
  bytesOf,
  readPdu,
  readWrite,
  type ScratchTable,
  valuesIn,
  valuesOf,
  write15,
  write16,
} from '../requests.js';
import { atEachPlace, type CellWrite, confirmed, otherBits, otherWords } from './confirmed.js';
import { besideOf, readsAfter, sureWord, writeOther, writeRegister } from './written.js';

/** How many registers or coils a check writes at each place, if the range is large enough. */
const REGISTERS = 4;
const COILS = 11;
/** Maximum number of coils at once: a long run of bytes sometimes contains a whole frame of another write. */
const MOST_COILS = 128;

/** Writes a value of each sign at each place with function 6. */
function fc06(bench: Bench): Promise<Judged> {
  return atEachPlace(bench, 'holding', 1, (first, turn) => ({
    ...{ table: 'holding', first, many: 1, values: otherWords(turn), echo: 5 },
    pdu: ([value = 0]) => readPdu(6, first, value),
  }));
}

/**
 * Writes one register and several alternately, because most clients write one value of 16 or 32 bits. Then
 * writes the whole range at once.
 */
async function fc16(bench: Bench): Promise<Judged> {
  const judged = await atEachPlace(bench, 'holding', REGISTERS, (first, turn, size) => ({
    ...{ table: 'holding', first, many: turn === 1 ? 1 : size, values: otherWords(turn), echo: 5 },
    pdu: (values) => write16(first, values),
  }));
  return orWhole(bench, judged, 'holding', MAX_REGISTERS_WRITTEN, (first, values) => write16(first, values));
}

/**
 * If the small writes were right, writes all cells in the range at once, up to the maximum of a request: a
 * server's buffer may be smaller. If the server refuses this many, it has not confirmed them.
 */
async function orWhole(
  bench: Bench,
  judged: Judged,
  table: ScratchTable,
  most: number,
  pdu: (first: number, values: readonly number[]) => Uint8Array,
): Promise<Judged> {
  if (judged.verdict !== 'conforms' || bench.asker.waits.isSlow) return judged;
  const { places, size } = await bench.scratch.places(table, most);
  const [first] = places;
  if (first === undefined) return judged;
  const whole = await confirmed(bench, {
    ...{ table, first, many: size, values: table === 'holding' ? otherWords(0) : otherBits, echo: 5 },
    pdu: (values) => pdu(first, values),
  });
  return whole.verdict === 'violates' && whole.grade === 'dangerous' ? whole : judged;
}

/** Fills a block of the maximum size with values that are all different. */
async function fc16Most(bench: Bench): Promise<Judged> {
  const first = await bench.scratch.register(MAX_REGISTERS_WRITTEN);
  if ((await bench.words(3, first, MAX_REGISTERS_WRITTEN))?.length !== MAX_REGISTERS_WRITTEN)
    return inconclusive({ code: 'too-few-in-one-read' });
  return confirmed(bench, {
    ...{ table: 'holding', first, many: MAX_REGISTERS_WRITTEN, values: otherWords(0), echo: 5 },
    pdu: (values) => write16(first, values),
  });
}

async function readBack(bench: Bench): Promise<Judged> {
  const address = await bench.scratch.register();
  if (bench.scratch.isMoving('holding', address))
    return inconclusive({ code: 'scratch-moves', table: 'holding' });
  const before = await bench.words(3, address, 1);
  if (!before) return unsupported({ code: 'scratch-not-read' });
  const [was = 0] = before;
  const { written, value } = await writeOther(bench, address, was ^ (1 + bench.random.below(0x7ffe)), was);
  if (written.answer.kind !== 'data')
    return inconclusive({ code: 'scratch-not-written', answer: didOf(written.answer) }, written);
  const from = bench.log.length;
  const after = await readsAfter(bench, address, value);
  const shown = [written, ...bench.log.slice(from, from + 1)];
  if (after === 0 && !bench.asker.isSerial) {
    await bench.asker.disconnect();
    const now = await sureWord(bench, address);
    if (now !== undefined && now !== value)
      return dangerous(
        { code: 'stored-for-connection', address, wrote: [value], reads: [now] },
        ...shown,
        ...bench.log.slice(-1),
      );
  }
  if (after === 0) return conforms({ code: 'read-at-once' }, ...shown);
  return after === undefined
    ? dangerous(
        {
          ...({ code: 'never-stored', function: written.pdu?.[0] ?? 0, address, wrote: [value] } as const),
          reads: (await bench.words(3, address, 1)) ?? [],
        },
        ...shown,
      )
    : violates({ code: 'stored-late', ms: after }, ...shown);
}

const AND = 0xfff2;
/** The value to mask: it has ones and zeros in both parts of the AND mask. */
const MASKED = 0x5a35;

/**
 * Masks the registers at all places (6.16). The OR mask has all bits that are 0 in the register, so that any
 * wrong combination of the three shows.
 */
function mask(bench: Bench): Promise<Judged> {
  let or = 0;
  return atEachPlace(bench, 'holding', 1, (first) => ({
    ...{ table: 'holding', first, many: 1, echo: 7, prime: MASKED },
    values: ([was = 0]) => {
      or = ~was & 0xffff;
      return [(was & AND) | (or & ~AND & 0xffff)];
    },
    pdu: () => Uint8Array.of(22, ...bytesOf(first), ...bytesOf(AND), ...bytesOf(or)),
  }));
}

/** Writes and reads the same registers with function 23, which writes first (6.17). */
async function fc23(bench: Bench): Promise<Judged> {
  let old: readonly number[] = [];
  let wanted: readonly number[] = [];
  const judged = await atEachPlace(bench, 'holding', REGISTERS, (first, turn) => ({
    ...{ table: 'holding', first, many: 1, echo: 0 },
    values: (before, isNarrow) => {
      old = before;
      wanted = otherWords(turn)(before, isNarrow);
      return wanted;
    },
    pdu: ([value = 0]) => readWrite(first, 1, first, value),
  }));
  if (judged.verdict !== 'conforms') return judged;
  const exchange = bench.log.findLast(({ pdu }) => pdu?.[0] === 23) as Exchange;
  const elsewhere = await readsElsewhere(bench);
  if (elsewhere?.verdict === 'violates') return elsewhere;
  const read = valuesIn(exchange);
  if (read.join() === wanted.join()) return conforms({ code: 'writes-before-it-reads' }, exchange);
  if (read.join() !== old.join()) return violates({ code: 'reads-something-else', value: read }, exchange);
  // If writes generally take effect later, the order of the two can't be seen.
  const late = await readBack(bench);
  return late.said.code === 'read-at-once'
    ? violates({ code: 'reads-before-it-writes' }, exchange)
    : inconclusive({ code: 'stored-late-always' }, exchange);
}

/** Reads one address and writes another with function 23: the read address must not change. */
async function readsElsewhere(bench: Bench): Promise<Judged | undefined> {
  const { first, last } = bench.order.scratch.holding ?? { first: 0, last: 0 };
  if (last === first) return undefined;
  const at = await bench.scratch.register(2);
  return confirmed(bench, {
    ...{ table: 'holding', first: at + 1, many: 1, values: otherWords(1), echo: 0 },
    pdu: ([value = 0]) => readWrite(at, 1, at + 1, value),
  });
}

const TEAR_READS = 200;
/** Two 32-bit values. Each half shows which one it belongs to. */
const HALVES: readonly number[] = [0x1111, 0x2222];

/** Writes a 32-bit value on one connection while it is read on another. */
async function tearing(bench: Bench): Promise<Judged> {
  const { asker, facts } = bench;
  if (asker.isOnePerConnection) return inconclusive({ code: 'closes-each' });
  if (facts.pauseMs !== undefined) return inconclusive({ code: 'pause-in-the-way' });
  if (facts.losses !== undefined) return inconclusive(lossy(bench));
  if (facts.connections?.served === 1) return unsupported({ code: 'one-connection' });
  const address = await bench.scratch.register(2);
  const opened = await asker.another();
  if (!opened.ok) return unsupported({ code: 'one-connection' });
  const other = opened.value;
  const pdu = readPdu(3, address, 2);
  const [own = 0] = bench.scratch.values('holding', address, 1);
  const halves = facts.isNarrow ? [own, besideOf(own)] : HALVES;
  const torn: Exchange[] = [];
  let reads = 0;
  try {
    for (const most = asker.waits.reads(TEAR_READS); reads < most; reads++) {
      const half = halves[reads % 2] ?? 0;
      const [written, read] = await Promise.all([
        asker.askOn(other, write16(address, [half, half])),
        asker.once(pdu, { pauseMs: 0, isExpected: true }),
      ]);
      if (written.answer.kind !== 'data')
        return inconclusive({ code: 'second-connection-refuses', answer: didOf(written.answer) }, written);
      const [first, second] = read.answer.kind === 'data' ? valuesOf(read.answer.pdu) : [];
      const isTorn = halves.includes(first ?? 0) && halves.includes(second ?? 0) && first !== second;
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
  const written = await writeRegister(bench, address, value);
  if (written.answer.kind !== 'data' || (await readsAfter(bench, address, value)) === undefined)
    return inconclusive({ code: 'scratch-not-written', answer: didOf(written.answer) }, written);
  const after = await bench.words(4, address, 1);
  return fact({ code: after?.[0] === value ? 'one-table' : 'two-tables' });
}

/** Toggles a coil at each place, and the first one back, so that both values are written. */
async function fc05(bench: Bench): Promise<Judged> {
  const writeAt = (first: number): CellWrite => ({
    ...{ table: 'coils', first, many: 1, values: ([was = 0]) => [1 - was], echo: 5 },
    pdu: ([value]) => readPdu(5, first, value ? 0xff00 : 0),
  });
  const judged = await atEachPlace(bench, 'coils', 1, writeAt);
  const [first] = judged.verdict === 'conforms' ? (await bench.scratch.places('coils', 1)).places : [];
  return first === undefined ? judged : confirmed(bench, writeAt(first));
}

/** Writes one coil within its byte, and several, alternately. */
async function fc15(bench: Bench): Promise<Judged> {
  const judged = await atEachPlace(bench, 'coils', COILS, (first, turn, size) => ({
    ...{ table: 'coils', first, many: turn % 2 === 0 ? 1 : size, values: otherBits, echo: 5 },
    pdu: (values) => write15(first, values),
  }));
  return orWhole(bench, judged, 'coils', MOST_COILS, (first, values) => write15(first, values));
}

export const WRITES = checksOf(
  {
    ...{ group: 'writes', grade: 'met', needs: ['holding'] },
    rule: 'Conforms when the reply repeats its request, the values read back, and the adjacent values are unchanged. Inconclusive if the address is not writable or values change by themselves.',
    matters: 'A client believes a write that did not happen, or changes a register that it did not write.',
    mend: 'Store exactly the values of the request at its addresses; then copy its first bytes into the reply.',
  },
  [
    {
      ...{ id: 'fc06-echo', run: fc06 },
      title: 'Writes one register',
      does: 'Writes values of both signs with function 6 at the first, the last, a middle and an odd address of --scratch, and reads them and their neighbours.',
      clause: `${A}, 6.6`,
    },
    {
      ...{ id: 'write-read-back', run: readBack },
      title: 'Reads back written values',
      does: 'Writes a value and reads it immediately and after a second.',
      rule: 'Conforms when the new value can be read immediately.',
      clause: `${A}, 6.6; SunSpec MOD-3`,
      matters:
        'Clients that verify writes report a failure or show the old setpoint: WillCodeForCats/solaredge-modbus-multi#197.',
      mend: 'Confirm a write only when reads return the new value.',
    },
    {
      ...{ id: 'fc16-echo', run: fc16 },
      title: 'Writes registers',
      does: 'Writes one register with function 16, then four from the same address, then the whole range, always with different values. Reads back these registers and their neighbours.',
      clause: `${A}, 6.12`,
    },
    {
      ...{ id: 'fc16-quantity-123', room: 123, run: fc16Most },
      title: 'Writes 123 registers',
      does: 'Writes 123 different values with function 16 and reads them back.',
      clause: `${A}, 6.12`,
    },
    {
      ...{ id: 'fc22-mask', run: mask },
      title: 'Masks a register',
      does: 'Sends function 22 for the same addresses with the AND mask FFF2 and an OR mask of all bits that are 0 there, then reads the registers and their neighbours.',
      clause: `${A}, 6.16`,
      matters: 'Bits get lost.',
      mend: '(value AND and-mask) OR (or-mask AND NOT and-mask).',
    },
    {
      ...{ id: 'tearing', grade: 'met', on: 'tcp', turn: 'late', room: 2, isSeveral: true },
      ...{ run: tearing },
      title: 'Reads whole values while they are written',
      does: 'Writes a 32-bit value on one connection and reads it on another, 200 times.',
      rule: 'Conforms when both registers always belong to the same value. Not supported with one connection.',
      clause: `${A}, 6.3; robustness (no clause)`,
      matters: 'Halves of two values are combined: zephyrproject-rtos/zephyr#118221, esphome/esphome#17205.',
      mend: 'Answer reads between writes, never during one.',
    },
    {
      ...{ id: 'fc23-order', run: fc23 },
      title: 'Writes before it reads',
      does: 'Uses function 23 to write a register and read it, then to write one and read the one before it. Then reads the registers and their neighbours.',
      clause: `${A}, 6.17`,
      matters:
        'The client sees the old value: NModbus4/NModbus4#6, steveohara/j2mod#32, stephane/libmodbus#2.',
      mend: 'Write first, then read.',
    },
    {
      ...{ id: 'tables-separate', grade: 'seldom', run: tablesSeparate },
      title: 'One table for holding and input registers',
      does: 'Writes a holding register and reads the input register.',
      rule: 'Reported, not judged.',
      clause: `${A}, 4.3`,
      matters: 'Client maps may assume either.',
      mend: 'Nothing.',
    },
    {
      ...{ id: 'fc05-echo', needs: ['coils'], run: fc05 },
      title: 'Writes a coil',
      does: 'Switches a coil with function 5 at the first, the last, a middle and an odd address of --scratch, and reads all coils of its byte.',
      clause: `${A}, 6.5`,
      matters: 'Relays are not in the state that the client believes; ClassicDIY/ModbusTool#4 (echoes 0001).',
    },
    {
      ...{ id: 'fc15-echo', needs: ['coils'], run: fc15 },
      title: 'Writes coils',
      does: 'Switches one coil, then eleven, with function 15 at the same addresses, then the whole range (at most 128), and reads them and their neighbours.',
      clause: `${A}, 6.11`,
    },
  ],
);
