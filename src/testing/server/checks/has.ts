import { SUNSPEC_BASES } from '../../../document/native/sunspec.js';
import { COMMON_MODEL, findSunspecModel, SUNSPEC_END } from '../../../document/sunspec/place.js';
import { bitsAt } from '../../../modbus/protocol/bytes.js';
import { MAX_BITS_READ, MAX_REGISTERS_READ } from '../../../modbus/protocol/limits.js';
import { type Bench, READ_CODES, type ReadCode } from '../bench.js';
import {
  absent,
  checksOf,
  conforms,
  dangerous,
  fact,
  inconclusive,
  isAbsent,
  type Judged,
  notAnswered,
  refused,
  type ServerCheck,
  unsupported,
  violates,
  worstOf,
} from '../check.js';
import { A } from '../clauses.js';
import { type Exchange, hasValues } from '../exchange.js';
import type { Found } from '../found.js';
import { didOf, hasOtherQuantity } from '../reading.js';
import { readPdu, valuesOf } from '../requests.js';

/** Finds the start of a function's table, or says why there is none. */
export async function startOr(bench: Bench, code: ReadCode): Promise<number | Judged> {
  const address = await tableOr(bench, code);
  return typeof address === 'number' ? ((await bench.start(code)) as number) : address;
}

/** Finds the table of a function, or says why there is none. */
async function tableOr(bench: Bench, code: ReadCode): Promise<number | Judged> {
  const address = await bench.table(code);
  if (typeof address === 'number') return address;
  const { answer } = address;
  if (isAbsent(address)) return absent(address);
  if (answer.kind === 'exception') return inconclusive({ code: 'no-address-found', function: code }, address);
  // A server that does not answer unknown addresses may have the function, with other addresses.
  if (answer.kind === 'silent' && (await refusesAddresses(bench)))
    return notAnswered(address, bench.asker.isSerial);
  return inconclusive({ code: 'function-unclear', function: code, answer: didOf(answer) }, address);
}

/** True if the server answers a read of addresses that it lacks in any way. */
async function refusesAddresses(bench: Bench): Promise<boolean> {
  const { code } = bench.good;
  const asked = bench.log.filter(({ pdu, isPlain }) => isPlain && pdu?.[0] === code && pdu[1] === 0xff);
  const last = asked.at(-1) ?? (await bench.ask(readPdu(code, 0xffff, 1)));
  return last.answer.kind === 'exception' || last.answer.kind === 'data';
}

/** Reads as many as the specification allows. If that is refused, finds the maximum by bisection. */
async function most(bench: Bench, code: ReadCode, limit: number): Promise<Judged> {
  const address = await startOr(bench, code);
  if (typeof address !== 'number') return address;
  const read = (quantity: number, from = address) => bench.ask(readPdu(code, from, quantity));
  const what = code <= 2 ? 'bits' : 'registers';
  const whole = await read(limit);
  const { answer } = whole;
  if (answer.kind === 'data') {
    if (whole.oddities.length === 0) bench.facts.most[code] = limit;
    const isShort = hasOtherQuantity(whole) || whole.oddities.includes('byte-count');
    return isShort
      ? inconclusive({ code: 'reply-of-other-size', quantity: limit, what }, whole)
      : conforms({ code: 'as-many-in-one-read', most: limit, what }, whole);
  }
  let [low, high] = [1, limit];
  let refusal: Exchange = whole;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const exchange = await read(middle);
    const isWhole = exchange.answer.kind === 'data' && !hasOtherQuantity(exchange);
    if (isWhole) low = middle;
    else {
      high = middle;
      refusal = exchange;
    }
  }
  // Two more reads distinguish the end of the map from the maximum per read.
  const last = address + low - 1;
  const beyond = await bench.ask(readPdu(code, last + 1, 1));
  const isBeyond = beyond.answer.kind === 'data';
  // A block of an answered size at the next address is refused because of its end, not its size.
  const next = isBeyond && low > 1 ? await read(low, address + 1) : beyond;
  const isMapEnd = next.answer.kind !== 'data';
  if (isMapEnd) {
    bench.facts.lastAddress[code] = last;
    const small = { address, last, most: low, what };
    const found: Found =
      answer.kind === 'exception' && answer.code !== 2
        ? { code: 'map-too-small-refused', ...small, exception: answer.code }
        : { code: 'map-too-small', ...small };
    return inconclusive(found, whole, refusal);
  }
  bench.facts.most[code] = low;
  const claimed = bench.order.claims?.[what];
  if (claimed !== undefined && low >= claimed)
    return unsupported({ code: 'few-as-claimed', most: low, what, claimed }, refusal, whole);
  // One cause, one finding: the limit is already judged with functions 1 and 3.
  if (code === 2 || code === 4) {
    const other = (code - 1) as ReadCode;
    if (bench.facts.most[other] === undefined) await most(bench, other, limit);
    if (bench.facts.most[other] === low)
      return fact({ code: 'few-as-others', most: low, what, function: other });
  }
  return violates(
    { code: 'few-in-one-read', most: low, limit, what, answer: didOf(refusal.answer) },
    refusal,
    whole,
  );
}

async function mapEnd(bench: Bench): Promise<Judged> {
  const code = bench.good.code;
  const address = await tableOr(bench, code);
  if (typeof address !== 'number') return address;
  const hasOne = async (at: number) => hasValues(await bench.ask(readPdu(code, at, 1)));
  // An occasional exception is not the end of the map.
  const isThere = async (at: number) => (await hasOne(at)) || hasOne(at);
  let [there, not] = [address, 0x10000];
  // Steps grow until an address is refused; the end is between the last two.
  for (let step = 1; there + step < 0x10000; step *= 2) {
    if (!(await isThere(there + step))) {
      not = there + step;
      break;
    }
    there += step;
  }
  if (not === 0x10000 && (await isThere(0xffff))) return unsupported({ code: 'all-addresses-exist' });
  while (not - there > 1) {
    const middle = (there + not) >> 1;
    if (await isThere(middle)) there = middle;
    else not = middle;
  }
  bench.facts.lastAddress[code] = there;
  if (there > address && (await hasOne(there - 1))) {
    const block = await bench.ask(readPdu(code, there - 1, 2));
    const found = { code: 'end-refused-in-block', address: there, before: there - 1 } as const;
    if (block.answer.kind !== 'data')
      return { ...violates({ ...found, answer: didOf(block.answer) }, block), grade: 'met' };
  }
  const alone = await bench.ask(readPdu(code, there + 1, 1));
  if (alone.answer.kind === 'data')
    return inconclusive({ code: 'address-not-refused', answer: didOf(alone.answer) }, alone);
  return refused(bench, readPdu(code, there, 2), {
    right: [2],
    open: { 3: 'refused-as-quantity', 4: 'refused-otherwise' },
    data: (exchange) => violates({ code: 'end-in-block', address: there + 1, before: there }, exchange),
  });
}

/** Reads 1, 3 and 9 bits: the byte count must be right, and the unused bits 0. */
async function padding(bench: Bench, code: 1 | 2): Promise<Judged> {
  const address = await tableOr(bench, code);
  if (typeof address !== 'number') return address;
  const shown: Exchange[] = [];
  let neighbours = false;
  for (const quantity of [1, 3, 9]) {
    const exchange = await bench.ask(readPdu(code, address, quantity));
    const { answer } = exchange;
    if (answer.kind !== 'data') continue;
    shown.push(exchange);
    const bits = bitsAt(answer.pdu, 2, 8 * (answer.pdu.length - 2));
    if (bits.slice(quantity).includes(true)) {
      return violates({ code: 'bits-set', quantity, byte: answer.pdu.at(-1) ?? 0 }, exchange);
    }
  }
  const all = await bench.bits(code, address, 8);
  neighbours = all?.slice(1).includes(true) ?? false;
  if (shown.length === 0) return inconclusive({ code: 'bits-not-read' });
  return neighbours
    ? conforms({ code: 'bits-padded' }, ...shown)
    : inconclusive({ code: 'bits-all-zero' }, ...shown);
}

/**
 * Compares blocks with individual reads, in every table: small blocks from an even and an odd address, and
 * the largest block. A server may treat even addresses, pairs, or small blocks specially.
 */
async function blockAgrees(bench: Bench): Promise<Judged> {
  const judgements: Judged[] = [];
  // For a slow server, one table of registers and one of bits: reads of one kind usually share a routine.
  const codes = bench.asker.waits.isSlow ? [...new Set([bench.good.code, 1 as const])] : READ_CODES;
  for (const code of codes) {
    if (typeof (await bench.table(code)) !== 'number') continue;
    judgements.push(...(await tableAgrees(bench, code, (await bench.start(code)) as number)));
  }
  const wrong = judgements.find(({ verdict }) => verdict !== 'conforms');
  if (wrong) return wrong.verdict === 'violates' ? wrong : worstOf(judgements);
  return judgements.length === 0
    ? inconclusive({ code: 'no-block' })
    : conforms({ code: 'block-same', blocks: judgements.length });
}

/** The number of values compared per block. */
const COMPARED = 4;

async function tableAgrees(bench: Bench, code: ReadCode, start: number): Promise<Judged[]> {
  const limit = code <= 2 ? MAX_BITS_READ : MAX_REGISTERS_READ;
  const { most, lastAddress } = bench.facts;
  const known = lastAddress[code] === undefined ? limit : Math.min(limit, lastAddress[code] - start + 1);
  const large = most[code] ?? known;
  const judgements: Judged[] = [];
  for (const [from, many] of [
    [start, COMPARED],
    [start + 1, COMPARED],
    [start, 2],
    [start, large],
  ] as const) {
    const judged = many >= 2 ? await blockIs(bench, code, from, many) : undefined;
    if (judged) judgements.push(judged);
    if (judged?.verdict === 'violates') break;
  }
  return judgements;
}

/**
 * Compares the last values of a block with individual reads.
 * @returns undefined if the block is refused, or if all the bits are equal
 */
async function blockIs(
  bench: Bench,
  code: ReadCode,
  from: number,
  many: number,
): Promise<Judged | undefined> {
  const compared = Math.min(COMPARED, many);
  const first = from + many - compared;
  const valuesOfReply = (exchange: Exchange, quantity: number): number[] | undefined => {
    if (exchange.answer.kind !== 'data') return undefined;
    const { pdu } = exchange.answer;
    return code <= 2 ? bitsAt(pdu, 2, quantity).map(Number) : valuesOf(pdu);
  };
  const alone = async () => {
    const values: number[] = [];
    for (let i = 0; i < compared; i++) {
      const [value] = valuesOfReply(await bench.ask(readPdu(code, first + i, 1)), 1) ?? [];
      if (value !== undefined) values.push(value);
    }
    return values;
  };
  const block = () => bench.ask(readPdu(code, from, many));
  const before = await alone();
  let exchange = await block();
  const read = () => (valuesOfReply(exchange, many) ?? []).slice(many - compared, many).join(' ');
  if (exchange.answer.kind !== 'data') return undefined;
  if (before.length < compared) return undefined;
  if (hasOtherQuantity(exchange) || exchange.oddities.includes('byte-count'))
    return inconclusive({ code: 'block-of-other-size' }, exchange);
  if (read() === before.join(' ')) {
    const isShown = code > 2 || new Set(before).size > 1;
    return isShown ? conforms({ code: 'block-same', blocks: 1 }, exchange) : undefined;
  }
  // The block is read again between two reads of each value: only constant values can show a difference.
  const again = await alone();
  exchange = await block();
  const after = await alone();
  if (again.join() !== after.join() || again.join() !== before.join())
    return inconclusive({ code: 'registers-alive' }, exchange);
  if (read() === after.join(' ')) return inconclusive({ code: 'block-differed-once' }, exchange);
  return dangerous(
    {
      ...{ code: 'block-differs', function: code, address: first, quantity: many },
      ...{ alone: after.join(' '), block: read() },
    },
    exchange,
    bench.log.at(-1) as Exchange,
  );
}

export const HAS = checksOf({ group: 'has' }, [
  {
    ...{ id: 'map-end', grade: 'seldom', provokes: ['address'], run: mapEnd },
    title: 'Refuses a block that goes beyond the end',
    does: 'Finds the last address and reads it once with the previous address and once with the next.',
    rule: 'Conforms when the first read is answered and the second refused with exception 02. Another code is inconclusive; not supported if every address exists.',
    clause: `${A}, 7, code 02`,
    matters:
      'A value from outside the map is mistaken for a measurement: pail23/stiebel_eltron_isg_component#599.',
    mend: 'Check address plus quantity against the end of the map.',
  },
  ...([3, 4] as const).map(
    (code): Omit<ServerCheck, 'group'> => ({
      ...{ id: `fc0${code}-quantity-125`, grade: 'met', run: (bench: Bench) => most(bench, code, 125) },
      title: `Function ${code} answers a read of 125 registers`,
      does: `Reads 125 registers with function ${code}; halves the quantity until it is answered.`,
      rule: 'Conforms when the reply has 250 data bytes. Inconclusive if the map is smaller; reports the largest read that worked.',
      clause: `${A}, 6.${code}`,
      matters:
        'Clients that read registers in blocks fail: influxdata/telegraf#18871, alejoseb/Modbus-STM32-HAL-FreeRTOS#116.',
      mend: 'Make the transmit buffer 256 bytes long.',
    }),
  ),
  ...([1, 2] as const).map(
    (code): Omit<ServerCheck, 'group'> => ({
      ...{ id: `fc0${code}-quantity-2000`, grade: 'seldom', run: (bench: Bench) => most(bench, code, 2000) },
      title: `Function ${code} answers a read of 2000 bits`,
      does: `Reads 2000 bits with function ${code}; halves the quantity until it is answered.`,
      rule: 'Conforms when the reply has 250 data bytes. Inconclusive if the map has fewer bits.',
      clause: `${A}, 6.${code}`,
      matters: 'Clients that read bits in blocks fail: coassoftwaresystems/delphi-modbus#18.',
      mend: 'Make the transmit buffer 256 bytes long.',
    }),
  ),
  {
    ...{ id: 'block-agrees', grade: 'met', run: blockAgrees },
    title: 'A block returns the same values as single reads',
    does: 'Reads values of each table one by one and in blocks: two and four from the first address, four from the next one, and the largest block.',
    rule: 'Conforms when both agree. Inconclusive if values change by themselves.',
    clause: `${A}, 6.1 to 6.4`,
    matters:
      '32-bit values are torn, swapped or shifted by holes (LavermanJJ/pysolarfocus#61); coils come from the start of their byte (espressif/esp-modbus#35).',
    mend: 'Fill each position of a block from its own address.',
  },
  ...([1, 2] as const).map(
    (code): Omit<ServerCheck, 'group'> => ({
      ...{ id: `fc0${code}-padding`, grade: 'seldom', run: (bench: Bench) => padding(bench, code) },
      title: `Function ${code} pads with zeros`,
      does: `Reads 1, 3 and 9 bits with function ${code}.`,
      rule: 'Conforms when the byte counts are 1, 1 and 2 and all other bits are 0. Inconclusive if the adjacent bits are 0.',
      clause: `${A}, 6.${code}`,
      matters:
        'Clients that use the whole byte see coils that they did not request: stephane/libmodbus#124, Cloud-Automation/node-modbus#184.',
      mend: 'Clear the byte before setting bits in it.',
    }),
  ),
]);

/** The marker at the start of the models. */
const MARKER = [0x5375, 0x6e53];
/** The common model has 66 registers, or 65 without the last one, which is a pad. */
const SHORT_COMMON = 65;
const MOST_MODELS = 100;

/** Follows the chain of models from the marker to its end. */
async function chain(bench: Bench): Promise<Judged> {
  for (const base of SUNSPEC_BASES) {
    const marker = await bench.words(3, base, 2);
    if (marker?.[0] === MARKER[0] && marker?.[1] === MARKER[1]) return follow(bench, base + 2);
  }
  return unsupported({ code: 'no-sunspec' });
}

async function follow(bench: Bench, first: number): Promise<Judged> {
  const models: number[] = [];
  const blame = (found: Found) => violates(found, ...bench.log.slice(-1));
  for (let at = first; models.length < MOST_MODELS; ) {
    const [id, length] = (await bench.words(3, at, 2)) ?? [];
    if (id === undefined || length === undefined) {
      // The end marker has length 0; some servers end with FFFF only.
      const [alone] = (await bench.words(3, at, 1)) ?? [];
      return alone === SUNSPEC_END[0]
        ? blame({ code: 'sunspec-end', address: at })
        : blame({ code: 'sunspec-cut', models, address: at });
    }
    if (id === SUNSPEC_END[0])
      return length === SUNSPEC_END[1]
        ? conforms({ code: 'sunspec-chain', models, first })
        : blame({ code: 'sunspec-end', address: at, length });
    if (models.length === 0 && id !== COMMON_MODEL) return blame({ code: 'sunspec-first', model: id });
    const wrong = wrongLength(id, length);
    if (wrong) return blame({ code: 'sunspec-length', model: id, address: at, length, ...wrong });
    const last = await bench.ask(readPdu(3, at + 1 + length, 1));
    if (!hasValues(last))
      return violates(
        { code: 'sunspec-short', model: id, address: at, length, answer: didOf(last.answer) },
        last,
      );
    models.push(id);
    at += 2 + length;
  }
  return blame({ code: 'sunspec-endless', models: MOST_MODELS });
}

/**
 * The correct length of a model with a wrong one, if there is only one; undefined if nothing is wrong, as for
 * vendor models and groups that may repeat.
 */
function wrongLength(id: number, length: number): { readonly right?: number } | undefined {
  const model = findSunspecModel(id);
  if (!model.ok) return length > 0 ? undefined : {};
  const { points = [], groups = [] } = model.value.group;
  const fixed = points.reduce((sum, { size }) => sum + size, 0) - 2;
  const isRight =
    groups.length > 0
      ? length >= fixed
      : length === fixed || (id === COMMON_MODEL && length === SHORT_COMMON);
  return isRight ? undefined : { right: fixed };
}

export const SUNSPEC = checksOf({ group: 'has' }, [
  {
    ...{ id: 'sunspec-map', grade: 'met', provokes: ['address'], run: chain },
    title: 'Its SunSpec models form a chain',
    does: 'Looks for the marker SunS at 40000, 0 and 50000 and follows the models to the end.',
    rule: 'Conforms when model 1 comes first, each model has the right length, its last register exists, and FFFF 0000 ends the chain. Not supported without a marker.',
    clause: 'SunSpec Device Information Model Specification V1.2, 6; conformance DEV-1, DEV-2, MOD-1, MOD-2',
    matters: 'Clients find no model, or read the wrong one: hoylabs/OpenDTU-OnBattery#2635.',
    mend: 'Make each length count the registers after it, and end the list with FFFF 0000.',
  },
]);
