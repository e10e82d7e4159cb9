import { MAX_BITS_READ, MAX_REGISTERS_READ } from '../../../modbus/protocol/limits.js';
import type { Bench, MappedValue } from '../bench.js';
import {
  absent,
  checksOf,
  conforms,
  inconclusive,
  isAbsent,
  type Judged,
  judgeRefusal,
  unsupported,
  violates,
} from '../check.js';
import { A } from '../clauses.js';
import type { Exchange } from '../exchange.js';
import { didOf } from '../reading.js';
import { type AddressSpan, readPdu, valuesOf } from '../requests.js';
import { writePdu } from './written.js';

/** Maximum number of values, and of parts of values, that are read. */
const MOST_VALUES = 500;
const MOST_PARTS = 8;
/** The widest hole between two values that is included in a read. */
const WIDEST_HOLE = 20;

function valueText({ code, address, name }: MappedValue): string {
  const place = `${code === 3 ? 'holding' : code === 4 ? 'input' : code === 1 ? 'coil' : 'discrete'} ${address}`;
  return name === undefined ? place : `${name} (${place})`;
}

const valuesIn = (bench: Bench): readonly MappedValue[] => bench.order.map?.values ?? [];

/** Consecutive bits are read together, values in registers one by one. */
function reads(values: readonly MappedValue[]): MappedValue[] {
  const found: MappedValue[] = [];
  for (const value of values) {
    const last = found.at(-1);
    const follows = last?.code === value.code && last.address + last.cells === value.address;
    if (last && value.code <= 2 && follows && last.cells < MAX_BITS_READ)
      found[found.length - 1] = { ...last, cells: last.cells + 1 };
    else found.push(value);
  }
  return found;
}

/** True if the reply has as many cells as the value needs. */
function isWhole({ answer }: Exchange, { code, cells }: MappedValue): boolean {
  if (answer.kind !== 'data') return false;
  return code <= 2
    ? answer.pdu.length - 2 >= cells / 8
    : valuesOf(answer.pdu).length >= Math.min(cells, MAX_REGISTERS_READ);
}

async function allThere(bench: Bench): Promise<Judged> {
  const all = reads(valuesIn(bench));
  const wanted = all.slice(0, MOST_VALUES);
  const shown: Exchange[] = [];
  const missing: MappedValue[] = [];
  for (const value of wanted) {
    const pdu = readPdu(
      value.code,
      value.address,
      Math.min(value.cells, value.code <= 2 ? MAX_BITS_READ : MAX_REGISTERS_READ),
    );
    const first = await bench.ask(pdu);
    if (isWhole(first, value)) continue;
    // A single failure may be an accident.
    const second = await bench.ask(pdu);
    if (isWhole(second, value)) continue;
    missing.push(value);
    shown.push(first, second);
  }
  const isCut = wanted.length < all.length;
  const [first] = missing;
  if (!first) return conforms({ code: 'map-whole', of: wanted.length, isCut });
  const values = missing.slice(0, 5).map(valueText);
  const [exchange] = shown as [Exchange];
  return {
    ...violates(
      {
        ...({ code: 'values-missing', missing: missing.length, of: wanted.length, isCut, values } as const),
        answer: didOf(exchange.answer),
      },
      ...shown.slice(0, 4),
    ),
    seen: { times: 2, of: 2 },
  };
}

async function halves(bench: Bench): Promise<Judged> {
  const wide = valuesIn(bench).filter(({ cells, isText }) => cells > 1 && !isText);
  if (wide.length === 0) return unsupported({ code: 'no-wide-value' });
  const said = bench.order.map?.wholeValues;
  const shown: Exchange[] = [];
  let refusals = 0;
  for (const value of wide.slice(0, MOST_PARTS)) {
    const whole = await bench.ask(readPdu(value.code, value.address, value.cells));
    if (!isWhole(whole, value)) continue;
    for (const address of [value.address, value.address + value.cells - 1]) {
      const exchange = await bench.ask(readPdu(value.code, address, 1));
      const { answer } = exchange;
      const isRefused = answer.kind === 'exception' && answer.code === 2;
      const part = { register: address, value: valueText(value), answer: didOf(answer) };
      if (answer.kind !== 'data' && !isRefused) {
        return answer.kind === 'exception' && [5, 6, 10, 11].includes(answer.code)
          ? inconclusive({ code: 'part-unclear', ...part }, exchange)
          : violates({ code: 'part-not-refused', ...part }, exchange);
      }
      if (said !== undefined && said !== isRefused)
        return violates(
          { code: 'part-against-map', register: address, value: part.value, wholeValues: isRefused },
          exchange,
        );
      if (isRefused) refusals++;
      shown.push(exchange);
    }
  }
  if (shown.length === 0) return inconclusive({ code: 'no-wide-value-read' });
  const answered = shown.length - refusals;
  return conforms({ code: 'parts', answered, refused: refusals }, ...shown.slice(0, 2));
}

/** Reads across holes in the map: blocks between two values that include addresses which are refused individually. */
async function holes(bench: Bench): Promise<Judged> {
  if (bench.order.map?.hasHoles) return unsupported({ code: 'holes-said' });
  const values = valuesIn(bench);
  let conforming: Exchange | undefined;
  let tried = 0;
  for (const [i, value] of values.entries()) {
    const next = values[i + 1];
    const end = value.address + value.cells;
    if (!next || next.code !== value.code || next.address === end || next.address - end > WIDEST_HOLE)
      continue;
    const quantity = next.address + next.cells - value.address;
    if (quantity > MAX_REGISTERS_READ || tried++ >= MOST_PARTS) continue;
    const hole = await bench.ask(readPdu(value.code, end, 1));
    // A map may omit registers that the server has.
    if (hole.answer.kind !== 'exception' || hole.answer.code !== 2) continue;
    const block = await bench.ask(readPdu(value.code, value.address, quantity));
    if (block.answer.kind === 'data')
      return violates({ code: 'hole-in-block', address: end, from: value.address }, hole, block);
    if (block.answer.kind === 'exception' && block.answer.code === 2) conforming = block;
  }
  if (conforming) return conforms({ code: 'hole-refused' }, conforming);
  return tried === 0 ? unsupported({ code: 'no-narrow-hole' }) : inconclusive({ code: 'no-hole-refused' });
}

const isIn = ({ address }: MappedValue, { first, last }: AddressSpan) => address >= first && address <= last;

/** Writes the present values to registers that are read-only according to the map. */
async function readOnly(bench: Bench): Promise<Judged> {
  const span = bench.order.scratch.holding as AddressSpan;
  const fixed = valuesIn(bench).filter(
    (value) => value.code === 3 && !value.isWritable && value.cells === 1 && isIn(value, span),
  );
  if (fixed.length === 0) return unsupported({ code: 'no-read-only' });
  const shown: Exchange[] = [];
  for (const value of fixed.slice(0, MOST_PARTS)) {
    const [now] = (await bench.words(3, value.address, 1)) ?? [];
    if (now === undefined) continue;
    await bench.scratch.keep('holding', value.address, 1);
    const exchange = await bench.ask(readPdu(6, value.address, now));
    const { answer } = exchange;
    if (isAbsent(exchange)) return absent(exchange);
    if (answer.kind === 'data')
      return violates({ code: 'read-only-taken', value: valueText(value) }, exchange);
    if (answer.kind === 'exception' && [2, 3, 4].includes(answer.code)) shown.push(exchange);
  }
  return shown.length > 0
    ? conforms({ code: 'read-only-refused', registers: shown.length }, ...shown.slice(0, 2))
    : inconclusive({ code: 'no-refused-write' });
}

/**
 * Writes values outside the limits in the map, which must be refused. If one is accepted, the old value is
 * restored.
 */
async function limits(bench: Bench): Promise<Judged> {
  const span = bench.order.scratch.holding as AddressSpan;
  const limited = valuesIn(bench).filter(
    (value) =>
      value.code === 3 &&
      value.isWritable &&
      value.beyond.length > 0 &&
      isIn(value, span) &&
      isIn(lastOf(value), span),
  );
  if (limited.length === 0) return unsupported({ code: 'no-limits' });
  const shown: Exchange[] = [];
  let other: Judged | undefined;
  for (const value of limited.slice(0, MOST_PARTS)) {
    await bench.scratch.keep('holding', value.address, value.cells);
    const before = await bench.words(3, value.address, value.cells);
    for (const words of value.beyond) {
      const exchange = await bench.ask(writePdu(bench, value.address, words));
      const at = { words, value: valueText(value) };
      const after = await bench.words(3, value.address, value.cells);
      if (before && after && after.join() === words.join() && before.join() !== words.join())
        return violates({ code: 'beyond-limits-taken', ...at }, exchange, bench.log.at(-1) as Exchange);
      const judged = judgeRefusal(exchange, {
        right: [3],
        open: { 2: 'refused-otherwise', 4: 'refused-otherwise' },
        data: (taken) => violates({ code: 'confirmed-not-taken', ...at }, taken),
      });
      if (judged.said.code === 'confirmed-not-taken') return judged;
      if (judged.verdict === 'violates') return { ...judged, at };
      if (judged.verdict === 'conforms') shown.push(exchange);
      else other = { ...judged, at };
    }
  }
  return other ?? conforms({ code: 'limits-kept', values: shown.length }, ...shown.slice(0, 2));
}

const lastOf = ({ address, cells, ...value }: MappedValue): MappedValue => ({
  ...value,
  address: address + cells - 1,
  cells: 1,
});

export const MAP = checksOf({ group: 'map' }, [
  {
    ...{ id: 'map-values', grade: 'met', needs: ['map'], isSeveral: true, run: allThere },
    title: 'Has every value of its map',
    does: 'Reads each value of the map in one piece, bits in blocks; at most 500 reads.',
    rule: 'Conforms when each reply has as many registers as the type of the value needs.',
    clause: 'the map (--map)',
    matters: 'Clients built from the map poll values that do not exist: LavermanJJ/pysolarfocus#61.',
    mend: 'Add the value to the device or remove it from the documentation.',
  },
  {
    ...{ id: 'half-values', grade: 'seldom', needs: ['map'], run: halves },
    title: 'Answers or refuses parts of a value',
    does: 'For values of several registers, reads the first and the last register alone.',
    rule: 'Conforms when the reply is 16 bits or exception 02; `manners.wholeValues` of the map decides which, if given.',
    clause: `${A}, 6.3`,
    matters:
      'Clients that read register by register get nothing, or parts of different values: rkl099/Appinventor-Modbus#1.',
    mend: 'Answer reads of single registers, or refuse partial reads of a value with exception 02.',
  },
  {
    ...{ id: 'holes', grade: 'seldom', needs: ['map'], provokes: ['address'], run: holes },
    title: 'Refuses a block over a hole',
    does: 'Reads blocks from one value to the next, across addresses that are refused on their own.',
    rule: 'Conforms when the reply to the whole block is exception 02. Inconclusive if no hole is refused on its own.',
    clause: `${A}, 7, code 02`,
    matters:
      'Fill values in holes are mistaken for measurements: LavermanJJ/pysolarfocus#61, pail23/stiebel_eltron_isg_component#599.',
    mend: 'Refuse a block with exception 02 if one of its addresses does not exist.',
  },
  {
    ...{ id: 'map-read-only', grade: 'seldom', needs: ['map', 'holding'], run: readOnly },
    title: 'Refuses writes to read-only values of its map',
    does: 'Writes their current values to read-only registers of the scratch range with function 6.',
    rule: 'Conforms when the reply is exception 02, 03 or 04.',
    clause: `${A}, 6.6`,
    matters: 'A client believes that it has changed a read-only value.',
    mend: 'Refuse writes to read-only registers.',
  },
  {
    ...{ id: 'map-limits', grade: 'met', needs: ['map', 'holding'], provokes: ['value'], run: limits },
    title: 'Refuses values outside the limits of its map',
    does: 'For values of the scratch range with `limits`, writes one value below and one above them; an accepted value is restored.',
    rule: 'Conforms when the reply is exception 03. Exceptions 02 and 04 are inconclusive.',
    clause: `${A}, 7, code 03`,
    matters: 'A setpoint that damages the plant is accepted or at least confirmed.',
    mend: 'Check a value against its limits before confirming the write.',
  },
]);
