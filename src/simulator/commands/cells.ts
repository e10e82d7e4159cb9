import { unknownName } from '../../common/schema/nearest.js';
import { expectedMessage } from '../../common/schema/problem.js';
import type { Action } from '../../device/registers/actions.js';
import type { RegisterImage } from '../../device/registers/image.js';
import { notDefined } from '../../device/registers/undefined.js';
import { parseValue } from '../../device/registers/value.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';
import type { Simulator } from '../simulator.js';
import type { CommandContext } from './context.js';
import type { DeclaredInput, FunctionsOf } from './declared.js';
import { TOO_MUCH_TO_COME, writeValue } from './device-value.js';
import { done, type Outcome, type Refusal, refusal } from './refusal.js';
import type { CELL_COMMANDS } from './schemas/device.js';

/**
 * A range of one list of registers, both ends included. Without a device, the first device of the first line
 * is used. A device of a pymodbus file has no tables, but one list for all of them.
 */
export type CellRange = DeclaredInput<(typeof CELL_COMMANDS)['cells.read']>;

/** Consecutive registers, in typed arrays because there may be many. */
export interface CellBlock {
  /** The address of the first cell. */
  readonly first: number;
  /** How many cells were requested. A value that extends past the last one is included with all of its cells. */
  readonly count: number;
  readonly words: Uint16Array;
  /** Type and access of each cell; see `device/registers/layout.ts`. */
  readonly meta: Uint8Array;
  /** How often clients have read and written each cell. */
  readonly reads: Uint32Array;
  readonly writes: Uint32Array;
  readonly actions: readonly (readonly [cell: number, action: Action])[];
}

/** Maximum number of cells in an answer. */
const MAX_CELLS = 8192;

/** Reads registers without running actions and without counting reads. */
function readCells({ simulator }: CommandContext, range: CellRange): Outcome<CellBlock> {
  const list = findList(simulator, range);
  if ('ok' in list) return list;
  return outside(list, range) ?? done(blockOf(list.image, range));
}

/**
 * Sets the value of a register, makes it writable, or both; neither if there is a mistake.
 * @returns the register after the change
 */
function setCell(
  { simulator }: CommandContext,
  { register, value, writable, ...range }: DeclaredInput<(typeof CELL_COMMANDS)['cells.set']>,
): Outcome<CellBlock> {
  const list = findList(simulator, range);
  if ('ok' in list) return list;
  const { image } = list;
  const wrong = outside(list, { from: register, to: register }, 'register') ?? outside(list, range);
  if (wrong) return wrong;
  const span = image.valueSpan(register);
  if (!span) return refusal('register.undefined', 'register', notDefined(register));
  if (span.address !== register) {
    const message = `${register} is a part of the ${span.type} at ${span.address}, expected ${span.address}`;
    return refusal('register.inside_value', 'register', message);
  }
  if (value === undefined && !writable) {
    return refusal('request.invalid', 'value', 'missing, expected a value to set (or writeable: true)');
  }
  if (value !== undefined) {
    const parsed = parseValue(span.type, value, span.cells);
    if (!parsed.ok) return refusal('value.invalid', 'value', expectedMessage(parsed.error, value));
    if (image.live?.isFull(register)) return refusal('value.moved_by_signal', 'value', TOO_MUCH_TO_COME);
    writeValue({ image, location: span }, parsed.value);
  }
  if (writable) for (let cell = register; cell < register + span.cells; cell++) image.setWritable(cell, true);
  return done(blockOf(image, range));
}

/** Cells from `image.size` up to `size` exist as addresses but are not defined. */
interface CellList {
  readonly image: RegisterImage;
  readonly size: number;
}

function findList(
  simulator: Simulator,
  { device: name, table }: Pick<CellRange, 'device' | 'table'>,
): CellList | Refusal {
  const device = name === undefined ? simulator.defaultDevice : simulator.devices.get(name);
  if (!device) {
    const known = [...simulator.devices.keys()];
    const message =
      name === undefined
        ? `missing, expected one of ${known.join(', ')}`
        : unknownName('device', name, known);
    return refusal('device.unknown', 'device', message);
  }
  const { cells, tables } = device;
  if (!cells) return { image: tables[table ?? 'holding'].window.image, size: ADDRESS_SPACE };
  if (table === undefined) return { image: cells, size: cells.size };
  return refusal(
    'request.invalid',
    'table',
    `the registers of device ${device.name} are one list, without tables`,
  );
}

function outside(
  { size }: CellList,
  { from, to }: Pick<CellRange, 'from' | 'to'>,
  path?: 'register',
): Refusal | undefined {
  const [key, address] = from >= size ? ['from', from] : ['to', to];
  if (Math.max(from, to) >= size)
    return refusal('register.undefined', path ?? key, `expected 0 to ${size - 1}, got ${address}`);
  if (from > to)
    return refusal('request.invalid', 'from', `expected at most ${to}, the last register, got ${from}`);
  const count = to - from + 1;
  if (count <= MAX_CELLS) return undefined;
  return refusal(
    'request.invalid',
    'to',
    `expected at most ${MAX_CELLS} registers in one request, got ${count}`,
  );
}

function blockOf(image: RegisterImage, { from, to }: Pick<CellRange, 'from' | 'to'>): CellBlock {
  const count = to - from + 1;
  image.refresh(from, Math.min(count, Math.max(0, image.size - from)));
  const last = to < image.size ? image.valueSpan(to) : undefined;
  const length = last ? Math.max(count, last.address + last.cells - from) : count;
  return { first: from, count, ...image.block(from, length) };
}

export const CELL_FUNCTIONS = {
  'cells.read': readCells,
  'cells.set': setCell,
} satisfies FunctionsOf<typeof CELL_COMMANDS>;
