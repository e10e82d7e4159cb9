import { FunctionCode, type FunctionName, namesOf } from './function-code.js';
import {
  MAX_BITS_READ,
  MAX_BITS_WRITTEN,
  MAX_REGISTERS_READ,
  MAX_REGISTERS_WRITTEN,
  MAX_REGISTERS_WRITTEN_BY_READ_WRITE,
} from './limits.js';

/*
 * The table of functions: where each field of a PDU is, and what it means (Application Protocol V1.1b3, 6).
 * It serves to decode and check requests, to find the length of frames, and to label the fields of a frame in
 * the console. `device` implements the functions.
 */

/** A field at a fixed offset of a PDU. */
export interface Field {
  /** The field's name in the specification. */
  readonly name: string;
  readonly at: number;
  /** The width in bytes. A word is most significant byte first. */
  readonly width: 1 | 2;
  readonly means: FieldMeaning;
  /** The maximum quantity; 0 for other fields. */
  readonly max: number;
}

type FieldMeaning =
  /** The address of the first register or coil. */
  | 'address'
  /** The number of registers or coils, starting at the preceding address. */
  | 'quantity'
  /** The number of bytes after this field. */
  | 'byte count'
  | 'sub-function'
  /** Another code or count that describes the data. */
  | 'head'
  /** A coil to write: ff00 or 0000. */
  | 'coil'
  | 'mask'
  /** Eight coils, or eight other bits. */
  | 'bits'
  | 'value';

/** The meaning of the bytes after the last field. */
type Rest =
  | 'bits'
  | 'words'
  /** Words that are not registers (6.8). */
  | 'data'
  | 'events'
  | 'server ID and status'
  /**
   * File parts, each with reference type, file, record and length (6.14). `parts with words` also have the
   * words of each part (6.15).
   */
  | 'parts'
  | 'parts with words'
  /** The words of file parts, each part preceded by its length and reference type (6.14). */
  | 'words of parts'
  /** Identification objects, each with identifier, length and text (6.21). */
  | 'objects';

/**
 * The fields of a request or a response after its function code. Offsets and lengths count from the beginning
 * of the PDU.
 */
export interface Layout {
  readonly fields: readonly Field[];
  readonly rest: Rest | undefined;
  /** The offset at which the last field ends. */
  readonly end: number;
  /** The length of the PDU; undefined if the specification does not fix it. */
  readonly length: LengthRule | undefined;
  /** The offset of the data, which a client would show as values. */
  readonly dataAt: number;
}

/** A fixed length, or the sum of `plus` and the value of the byte at `countAt`. */
export type LengthRule = number | { readonly countAt: number; readonly plus: number };

type Unplaced = Omit<Field, 'at'>;

const byte = (name: string, means: FieldMeaning): Unplaced => ({ name, width: 1, means, max: 0 });
const word = (name: string, means: FieldMeaning = 'value'): Unplaced => ({ name, width: 2, means, max: 0 });
const quantity = (max: number, name = 'quantity'): Unplaced => ({ name, width: 2, means: 'quantity', max });
const heads = (...names: string[]) => names.map((name) => byte(name, 'head'));

/** The meanings of fields that come before the data. */
const BEFORE_DATA: readonly FieldMeaning[] = ['address', 'byte count', 'sub-function', 'head'];

function layout(unplaced: readonly Unplaced[], rest?: Rest, usualLength?: number): Layout {
  let end = 1;
  const fields = unplaced.map((field): Field => {
    end += field.width;
    return { ...field, at: end - field.width };
  });
  const count = fields.find(({ means }) => means === 'byte count');
  // A two-byte count never exceeds 255, so its low byte is enough.
  const counted = count && { countAt: count.at + count.width - 1, plus: count.at + count.width };
  const dataAt = fields.find(({ means }) => !BEFORE_DATA.includes(means))?.at ?? end;
  return { fields, rest, end, length: counted ?? usualLength ?? (rest ? undefined : end), dataAt };
}

/** What the specification says about a function. */
interface FunctionRow {
  /** The name of the function, spelt as in the specification: `read holding registers`. */
  readonly name: string;
  readonly request: Layout;
  readonly response: Layout;
  readonly table?: 'coils' | 'discrete' | 'input' | 'holding';
  /** True if requests of other lengths are valid too, so that only silence marks the end of a frame. */
  readonly varies?: boolean;
  /**
   * True if servers execute the function as a broadcast: it writes (Serial Line V1.02, 2.2), or it is a
   * diagnostic function.
   */
  readonly broadcast?: boolean;
  /**
   * True if the function reads the communication events of the line, and so is not counted as an event itself
   * (6.9).
   */
  readonly asksForEvents?: boolean;
  /** Where the request has addresses of registers or coils. Without a quantity, the range is one item. */
  readonly ranges: readonly { readonly addressAt: number; readonly quantityAt: number | undefined }[];
  /** The kind of values in the data of a response; undefined if the data are not the values of a range. */
  readonly values: 'bits' | 'words' | undefined;
}

const COUNT = byte('byte count', 'byte count');
const range = (max: number) => [word('starting address', 'address'), quantity(max)];

const NOTHING = layout([]);
const COUNTED_WORDS = layout([COUNT], 'words');
const READ_BITS = { request: layout(range(MAX_BITS_READ)), response: layout([COUNT], 'bits') };
const READ_WORDS = { request: layout(range(MAX_REGISTERS_READ)), response: COUNTED_WORDS };
/** Creates the row of a write whose response is a copy of the request. */
const copied = (both: Layout) => ({ request: both, response: both, broadcast: true });
/** Creates the row of a write to a range, whose response repeats the range. */
const confirmed = (max: number, rest: Rest) => ({
  request: layout([...range(max), COUNT], rest),
  response: layout(range(max)),
  broadcast: true,
});

type WrittenRow = Pick<FunctionRow, 'request' | 'response'> & Partial<FunctionRow>;

const ROWS: Readonly<Record<FunctionName, WrittenRow>> = {
  readCoils: { ...READ_BITS, table: 'coils' },
  readDiscreteInputs: { ...READ_BITS, table: 'discrete' },
  readHoldingRegisters: { ...READ_WORDS, table: 'holding' },
  readInputRegisters: { ...READ_WORDS, table: 'input' },
  writeSingleCoil: {
    ...copied(layout([word('output address', 'address'), word('output value', 'coil')])),
    table: 'coils',
  },
  writeSingleRegister: {
    ...copied(layout([word('register address', 'address'), word('register value')])),
    table: 'holding',
  },
  readExceptionStatus: { request: NOTHING, response: layout([byte('output data', 'bits')]) },
  // The data of "return query data" may be longer than the one word of the other sub-functions.
  diagnostics: { ...copied(layout([word('sub-function', 'sub-function')], 'data', 5)), varies: true },
  getCommEventCounter: {
    request: NOTHING,
    response: layout([word('status'), word('event count')]),
    asksForEvents: true,
  },
  getCommEventLog: {
    request: NOTHING,
    response: layout([COUNT, word('status'), word('event count'), word('message count')], 'events'),
    asksForEvents: true,
  },
  writeMultipleCoils: { ...confirmed(MAX_BITS_WRITTEN, 'bits'), table: 'coils' },
  writeMultipleRegisters: { ...confirmed(MAX_REGISTERS_WRITTEN, 'words'), table: 'holding' },
  reportServerId: { request: NOTHING, response: layout([COUNT], 'server ID and status') },
  readFileRecord: {
    request: layout([COUNT], 'parts'),
    response: layout([byte('response data length', 'byte count')], 'words of parts'),
  },
  writeFileRecord: copied(layout([COUNT], 'parts with words')),
  maskWriteRegister: {
    ...copied(
      layout([word('reference address', 'address'), word('and mask', 'mask'), word('or mask', 'mask')]),
    ),
    table: 'holding',
  },
  readWriteMultipleRegisters: {
    request: layout(
      [
        word('read starting address', 'address'),
        quantity(MAX_REGISTERS_READ, 'quantity to read'),
        word('write starting address', 'address'),
        quantity(MAX_REGISTERS_WRITTEN_BY_READ_WRITE, 'quantity to write'),
        COUNT,
      ],
      'words',
    ),
    response: COUNTED_WORDS,
    table: 'holding',
    broadcast: true,
  },
  // The address is that of the queue's pointer. A response has at most 31 values of the queue.
  readFifoQueue: {
    request: layout([word('FIFO pointer address', 'address')]),
    response: layout([word('byte count', 'byte count'), word('FIFO count', 'head')], 'words'),
  },
  // Other MEI types may have any length.
  encapsulatedInterfaceTransport: {
    request: layout(heads('MEI type', 'read device ID code', 'object ID')),
    response: layout(
      heads(
        'MEI type',
        'read device ID code',
        'conformity level',
        'more follows',
        'next object ID',
        'number of objects',
      ),
      'objects',
    ),
    varies: true,
  },
};

const NAMES = namesOf(FunctionCode);

function rowOf(written: WrittenRow, name: string): FunctionRow {
  const { fields } = written.request;
  const ranges = fields.flatMap(({ at, means }, i) => {
    const next = fields[i + 1];
    if (means !== 'address') return [];
    return [{ addressAt: at, quantityAt: next?.means === 'quantity' ? next.at : undefined }];
  });
  const { rest } = written.response;
  const ofRange = ranges[0]?.quantityAt !== undefined && (rest === 'bits' || rest === 'words');
  return { name, ranges, values: ofRange ? rest : undefined, ...written };
}

const BY_CODE: readonly (FunctionRow | undefined)[] = Array.from({ length: 256 }, (_, code) => {
  const entry = Object.entries(FunctionCode).find(([, each]) => each === code);
  return entry && rowOf(ROWS[entry[0] as FunctionName], NAMES.get(code) as string);
});

/** Returns the row of a function code; undefined for a code that is not in the specification. */
export function functionOf(code: number | undefined): FunctionRow | undefined {
  return code === undefined ? undefined : BY_CODE[code];
}
