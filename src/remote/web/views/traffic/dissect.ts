import { counted } from '../../../../common/words.js';
import { wordAt } from '../../../../modbus/protocol/bytes.js';
import { crc16 } from '../../../../modbus/protocol/crc16.js';
import {
  EXCEPTION_FLAG,
  ExceptionCode,
  FunctionCode,
  namesOf,
  SubFunction,
} from '../../../../modbus/protocol/function-code.js';
import { functionOf, type Layout } from '../../../../modbus/protocol/function-table.js';
import { COLON, MBAP_LENGTH, MIN_RTU_LENGTH } from '../../../../modbus/protocol/limits.js';

export interface ShownField {
  readonly name: string;
  /** Position in the bytes of the event, and number of bytes; 0 bytes if the field is missing. */
  readonly at: number;
  readonly length: number;
  readonly value: string;
  /** What is wrong with the field; undefined if nothing is. */
  readonly wrong?: string | undefined;
}

/** Formats a value, and says what is wrong with it. */
type Describe = (value: number) => Pick<ShownField, 'value' | 'wrong'>;

const decimal: Describe = (value) => ({ value: String(value) });

/** Names bytes, one field at a time. Missing bytes are reported once. */
class Fields {
  readonly list: ShownField[] = [];
  readonly bytes: Uint8Array;
  #at = 0;
  #end: number;
  #isCut = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#end = bytes.length;
  }

  /** Number of unnamed bytes; 0 if some were missing. */
  get left(): number {
    return this.#isCut ? 0 : this.#end - this.#at;
  }

  /** The unnamed bytes. */
  rest(): Uint8Array {
    return this.bytes.subarray(this.#at, this.#end);
  }

  /** Names the next bytes as if none followed them. @param length number of bytes */
  within(length: number, name: () => void): void {
    const [end, whole] = [this.#at + length, this.#end];
    this.#end = end;
    name();
    [this.#at, this.#end, this.#isCut] = [end, whole, false];
  }

  /** Names a number. @returns its value; 0 if it is missing */
  number(name: string, width: 1 | 2, describe: Describe = decimal): number {
    const value = width === 2 ? wordAt(this.bytes, this.#at) : (this.bytes[this.#at] ?? 0);
    return this.#add(name, width, () => describe(value)) ? value : 0;
  }

  /** Names words. @param nameOf returns the name of a word for its index */
  words(quantity: number, nameOf: (i: number) => string): void {
    for (let i = 0; i < quantity && this.left > 0; i++) this.number(nameOf(i), 2);
  }

  /**
   * Names all remaining bytes as bits, lowest bit first.
   * @param first number of the first bit; undefined if not known
   */
  bits(first: number | undefined, quantity = Number.POSITIVE_INFINITY): void {
    for (let i = 0; this.left > 0; i += 8) {
      const count = Math.max(0, Math.min(8, quantity - i));
      const from = (first ?? 0) + i;
      const range = count > 1 ? `${from}–${from + count - 1}` : String(from);
      this.number(first === undefined ? `bits ${range}` : `coils ${range}`, 1, (value) => ({
        value: Array.from({ length: count }, (_, bit) => (value >> bit) & 1).join(' '),
      }));
    }
  }

  /** Names bytes as text. @param length number of bytes */
  text(name: string, length: number): void {
    const text = String.fromCharCode(...this.rest().subarray(0, length));
    if (length > 0) this.#add(name, length, () => ({ value: JSON.stringify(text) }));
  }

  /** Names all remaining bytes as one field. */
  remaining(name: string, wrong?: string): void {
    const { left } = this;
    if (left > 0) this.#add(name, left, () => ({ value: '', wrong }));
  }

  #add(name: string, length: number, describe: () => ReturnType<Describe>): boolean {
    if (this.#isCut) return false;
    const present = Math.min(length, this.#end - this.#at);
    this.#isCut = present < length;
    const wrong = `missing ${length - present} of ${counted(length, 'byte')}`;
    this.list.push({
      name,
      at: this.#at,
      length: present,
      ...(this.#isCut ? { value: '', wrong } : describe()),
    });
    this.#at += present;
    return !this.#isCut;
  }
}

export type FramingName = 'rtu' | 'ascii' | 'socket';

/** Facts that are not in the PDU itself. */
interface About {
  readonly isResponse: boolean;
  /** The registers or coils of a response; only its request names them. */
  readonly address?: number | undefined;
  readonly quantity?: number | undefined;
}

/**
 * Names every byte of an event, which may be a frame, several frames, or the rest of one. The fields are in
 * the order of the bytes, and each says what is wrong with it.
 */
export function dissect(bytes: Uint8Array, framing: FramingName, about: About): ShownField[] {
  if (framing === 'ascii') return asciiFields(bytes, about);
  const fields = new Fields(bytes);
  // Another frame may follow a complete one.
  while (fields.left > 0) (framing === 'rtu' ? nameRtu : nameSocket)(fields, about);
  return fields.list;
}

/** Guesses the framing from the bytes, for a line whose framing is no longer known. */
export function guessedFraming(bytes: Uint8Array): FramingName {
  if (bytes[0] === COLON) return 'ascii';
  return bytes.length > MBAP_LENGTH && wordAt(bytes, 2) === 0 && wordAt(bytes, 4) === bytes.length - 6
    ? 'socket'
    : 'rtu';
}

const TOO_SHORT = 'too short for a frame';

/** Describes a value with only one valid value. */
const only =
  (right: number, wrong = `expected ${right}`): Describe =>
  (value) => ({ value: String(value), wrong: value === right ? undefined : wrong });

const unit: Describe = (value) => ({ value: value === 0 ? '0 broadcast' : String(value) });

/** Describes a check value. */
const checked = (found: string, expected: string) =>
  found === expected ? { value: `${found} right` } : { value: found, wrong: `expected ${expected}` };

const hexWord = (word: number) => word.toString(16).padStart(4, '0');

/** Names unit, PDU and CRC, low byte first. */
function nameRtu(f: Fields, about: About): void {
  const frame = f.rest();
  if (frame.length < MIN_RTU_LENGTH) {
    f.remaining('fragment', TOO_SHORT);
    return;
  }
  const length = lengthOfRtu(frame);
  const crc = crc16(frame, 0, length - 2);
  f.number('unit', 1, unit);
  f.within(length - 3, () => namePdu(f, about));
  f.number('CRC', 2, (word) => checked(hexWord(word), hexWord(((crc & 0xff) << 8) | (crc >> 8))));
}

/** The length of the first frame with a correct CRC; the length of all bytes if there is none. */
function lengthOfRtu(bytes: Uint8Array): number {
  if (crc16(bytes, 0) === 0) return bytes.length;
  for (let length = MIN_RTU_LENGTH; length < bytes.length; length++) {
    if (crc16(bytes, 0, length) === 0) return length;
  }
  return bytes.length;
}

/** Names MBAP header and PDU. */
function nameSocket(f: Fields, about: About): void {
  const follow = f.left - 6;
  if (follow < 2) {
    f.remaining('fragment', TOO_SHORT);
    return;
  }
  const isWhole = (length: number) => length >= 2 && length <= follow;
  f.number('transaction', 2);
  f.number('protocol', 2, only(0));
  const length = f.number('length', 2, (value) => ({
    value: String(value),
    wrong: isWhole(value) ? undefined : `${follow} bytes follow`,
  }));
  f.number('unit', 1);
  f.within((isWhole(length) ? length : follow) - 1, () => namePdu(f, about));
}

/** Names colon, two digits per byte, carriage return and delimiter. The last byte of the digits is the LRC. */
function asciiFields(bytes: Uint8Array, about: About): ShownField[] {
  const textOf = (at: number, length: number) => String.fromCharCode(...bytes.subarray(at, at + length));
  const end = bytes.lastIndexOf(0x0d);
  const digitsEnd = end < 0 ? bytes.length : end;
  // A character that is not a digit counts as 0.
  const content = Uint8Array.from({ length: (digitsEnd - 1) >> 1 }, (_, i) =>
    Number.parseInt(textOf(1 + 2 * i, 2), 16),
  );
  const f = new Fields(bytes[0] === COLON && content.length >= 3 ? content.subarray(0, -1) : bytes);
  if (f.bytes === bytes) {
    f.remaining('fragment', TOO_SHORT);
    return f.list;
  }
  f.number('unit', 1, unit);
  namePdu(f, about);
  const lrcAt = 1 + 2 * f.bytes.length;
  const lrc = f.bytes.reduce((sum, byte) => sum - byte, 0) & 0xff;
  const digits = textOf(lrcAt, digitsEnd - lrcAt);
  const expected = lrc.toString(16).padStart(2, '0').toUpperCase();
  const isRight = digits.toUpperCase() === expected;
  const length = bytes.length - digitsEnd;
  const isEnd = length === 2;
  return [
    { name: 'start', at: 0, length: 1, value: ':' },
    ...f.list.map((field) => {
      const [at, length] = [1 + 2 * field.at, 2 * field.length];
      const wrong = /^[0-9a-f]*$/i.test(textOf(at, length)) ? field.wrong : 'a character that is not a digit';
      return { ...field, at, length, wrong };
    }),
    { name: 'LRC', at: lrcAt, length: digits.length, ...checked(digits, isRight ? digits : expected) },
    // Function 8/3 may have changed the delimiter.
    {
      name: 'end',
      at: digitsEnd,
      length,
      value: isEnd ? 'carriage return and delimiter' : '',
      wrong: isEnd ? undefined : 'expected carriage return and delimiter',
    },
  ];
}

/** Describes a code by name. @param wrong the message for a code without a name */
function named(codes: Readonly<Record<string, number>>, wrong: string): Describe {
  const names = namesOf(codes);
  return (code) =>
    names.has(code) ? { value: `${code} ${names.get(code)}` } : { value: String(code), wrong };
}

const functionCode = named(FunctionCode, 'not a function in the specification');
const exceptionCode = named(ExceptionCode, 'not an exception in the specification');
const REFERENCE_TYPE = only(6);

/** The descriptions of fields, by meaning. */
const DESCRIBED: Readonly<Partial<Record<Layout['fields'][number]['means'], Describe>>> = {
  'sub-function': named(SubFunction, 'not a sub-function in the specification'),
  mask: (value) => ({ value: `0x${hexWord(value)}` }),
  coil: (value) => {
    if (value === 0xff00) return { value: 'on' };
    return value === 0 ? { value: 'off' } : { value: String(value), wrong: 'expected ff00 or 0000' };
  },
};

/** The only MEI type with known fields: read device identification (6.21). */
const KNOWN_MEI_TYPE = 14;

function namePdu(f: Fields, about: About): void {
  const code = f.number('function', 1, (value) => {
    const { value: name, wrong } = functionCode(value & ~EXCEPTION_FLAG);
    return { value: value & EXCEPTION_FLAG ? `exception on ${name}` : name, wrong };
  });
  const row = functionOf(code);
  if (code & EXCEPTION_FLAG) f.number('exception code', 1, exceptionCode);
  else if (row) nameFields(f, about.isResponse ? row.response : row.request, about);
  else f.remaining('data');
  f.remaining('more bytes', `${f.left} more than the function defines`);
}

function nameFields(f: Fields, { fields, rest }: Layout, about: About): void {
  // Written data is named from the last address in the request, which is the address of the data.
  let { address, quantity } = about;
  for (const { name, width, means } of fields) {
    if (means === 'bits') f.bits(undefined, 8);
    else if (means === 'byte count') {
      const follow = f.left - width;
      f.number(name, width, only(follow, `${follow} bytes follow`));
    } else {
      const value = f.number(name, width, DESCRIBED[means]);
      if (name === 'MEI type' && value !== KNOWN_MEI_TYPE) {
        f.remaining('data');
        return;
      }
      if (means === 'address') address = value;
      if (means === 'quantity') quantity = value;
    }
  }
  if (rest) (RESTS[rest] ?? remainingAs(rest))(f, address, quantity);
}

type NameRest = (f: Fields, address: number | undefined, quantity: number | undefined) => void;

const valueFrom = (address: number | undefined) => (i: number) =>
  address === undefined ? `value ${i + 1}` : `register ${address + i}`;

const remainingAs =
  (name: string): NameRest =>
  (f) =>
    f.remaining(name);

/** Names the bytes after the last field, by kind. Kinds that are not listed have no parts. */
const RESTS: Readonly<Partial<Record<NonNullable<Layout['rest']>, NameRest>>> = {
  bits: (f, address, quantity) => f.bits(address, quantity),
  words: (f, address) => f.words(f.left / 2, valueFrom(address)),
  data: (f) => f.words(f.left / 2, (i) => (i === 0 ? 'data' : `data ${i + 1}`)),
  parts: (f) => nameParts(f, false),
  'parts with words': (f) => nameParts(f, true),
  'words of parts': (f) => {
    while (f.left > 0) {
      const length = f.number('file response length', 1);
      f.number('reference type', 1, REFERENCE_TYPE);
      f.words((length - 1) / 2, valueFrom(undefined));
    }
  },
  objects: (f) => {
    while (f.left > 0) {
      const id = f.number('object ID', 1);
      f.text(`object ${id}`, f.number('object length', 1));
    }
  },
};

function nameParts(f: Fields, withWords: boolean): void {
  while (f.left > 0) {
    f.number('reference type', 1, REFERENCE_TYPE);
    const file = f.number('file number', 2);
    const record = f.number('record number', 2);
    const length = f.number('record length', 2);
    if (withWords) f.words(length, (i) => `file ${file} record ${record + i}`);
  }
}
