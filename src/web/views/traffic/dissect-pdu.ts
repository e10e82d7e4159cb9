import { wordAt } from '../../../protocol/bytes.js';
import { ExceptionCode } from '../../../protocol/exception-code.js';
import { EXCEPTION_FLAG, FunctionCode, namesOf } from '../../../protocol/function-code.js';
import { functionOf, type Layout } from '../../../protocol/function-table.js';
import { SubFunction } from '../../../protocol/sub-function.js';

/** What a PDU alone does not say. */
export interface About {
  readonly isResponse: boolean;
  /** Which registers or coils a response brings: those of its request. */
  readonly address?: number | undefined;
  readonly quantity?: number | undefined;
}

/** A field of a frame. */
export interface Field {
  readonly name: string;
  /** Where it begins in the bytes of the event, and how many of them it has: none where it is missing. */
  readonly at: number;
  readonly length: number;
  readonly value: string;
  /** What is wrong with it, or undefined. */
  readonly wrong?: string | undefined;
}

/** Puts a value into words, and says what is wrong with it. */
type Describe = (value: number) => { readonly value: string; readonly wrong?: string | undefined };

const decimal: Describe = (value) => ({ value: String(value) });

/** Finds every value but one wrong. */
const only =
  (right: number, wrong = `expected ${right}`): Describe =>
  (value) => ({ value: String(value), wrong: value === right ? undefined : wrong });

/** A code with its name. @param wrong is said of a code without one */
function named(codes: Readonly<Record<string, number>>, wrong: string): Describe {
  const names = namesOf(codes);
  return (code) =>
    names.has(code) ? { value: `${code} ${names.get(code)}` } : { value: String(code), wrong };
}

const functionCode = named(FunctionCode, 'not a function of the specification');
const exceptionCode = named(ExceptionCode, 'not an exception of the specification');
const REFERENCE_TYPE = only(6);

/** Names the bytes of a PDU one field after the other. Missing bytes are reported once. */
class Fields {
  readonly list: Field[] = [];
  readonly #bytes: Uint8Array;
  #at: number;
  #end: number;
  #isCut = false;

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  /** Bytes that have no name yet; 0 when some were missing. */
  get left(): number {
    return this.#isCut ? 0 : this.#end - this.#at;
  }

  /** @returns the value; 0 where it is missing */
  number(name: string, width: 1 | 2, describe: Describe = decimal): number {
    const value = width === 2 ? wordAt(this.#bytes, this.#at) : (this.#bytes[this.#at] ?? 0);
    return this.#add(name, width, () => describe(value)) ? value : 0;
  }

  /** @param nameOf a word, by its number from 0 on */
  words(quantity: number, nameOf: (i: number) => string): void {
    for (let i = 0; i < quantity && this.left > 0; i++) this.number(nameOf(i), 2);
  }

  /** All bytes that are left as bits, the lowest one first. @param first number of the first bit; undefined where nobody knows */
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

  /** So many bytes as they are, or all that are left. */
  bytes(name: string, length = this.left, isText = false): void {
    if (length === 0) return;
    const bytes = this.#bytes.subarray(this.#at, Math.min(this.#end, this.#at + length));
    const text = String.fromCharCode(...bytes);
    this.#add(name, length, () => ({ value: isText ? JSON.stringify(text) : '' }));
  }

  /** Names what is behind the last field, which should be nothing. */
  end(): void {
    const { left } = this;
    if (left > 0)
      this.#add('more bytes', left, () => ({ value: '', wrong: `${left} more than the function has` }));
  }

  #add(name: string, length: number, describe: () => ReturnType<Describe>): boolean {
    if (this.#isCut) return false;
    const present = Math.min(length, this.#end - this.#at);
    if (present < length) {
      this.#isCut = true;
      const wrong = `${length - present} of ${length} bytes are missing`;
      this.list.push({ name, at: this.#at, length: present, value: '', wrong });
    } else this.list.push({ name, at: this.#at, length, ...describe() });
    this.#at += present;
    return !this.#isCut;
  }
}

/** How the values of fields are described, by what they mean. */
const DESCRIBED: Readonly<Partial<Record<Layout['fields'][number]['means'], Describe>>> = {
  'sub-function': named(SubFunction, 'not a sub-function of the specification'),
  mask: (value) => ({ value: `0x${value.toString(16).padStart(4, '0')}` }),
  coil: (value) => {
    if (value === 0xff00) return { value: 'on' };
    return value === 0 ? { value: 'off' } : { value: String(value), wrong: 'expected ff00 or 0000' };
  },
};

/** Names the fields of the PDU in `bytes[at..end)`. */
export function dissectPdu(bytes: Uint8Array, at: number, end: number, about: About): Field[] {
  const fields = new Fields(bytes, at, end);
  const code = fields.number('function', 1, (value) => {
    const { value: name, wrong } = functionCode(value & ~EXCEPTION_FLAG);
    return { value: value & EXCEPTION_FLAG ? `exception on ${name}` : name, wrong };
  });
  const row = functionOf(code);
  if (code & EXCEPTION_FLAG) fields.number('exception code', 1, exceptionCode);
  else if (row) nameFields(fields, about.isResponse ? row.response : row.request, about);
  else fields.bytes('data');
  fields.end();
  return fields.list;
}

/** The only MEI type whose fields are known here: read device identification (6.21). */
const KNOWN_MEI_TYPE = 14;

function nameFields(f: Fields, { fields, rest }: Layout, about: About): void {
  // What a request writes is named by its last address, which is that of its data.
  let { address, quantity } = about;
  for (const { name, width, means } of fields) {
    if (means === 'bits') f.bits(undefined, 8);
    else if (means === 'byte count') {
      const follow = f.left - width;
      f.number(name, width, only(follow, `${follow} bytes follow`));
    } else {
      const value = f.number(name, width, DESCRIBED[means]);
      if (name === 'MEI type' && value !== KNOWN_MEI_TYPE) {
        f.bytes('data');
        return;
      }
      if (means === 'address') address = value;
      if (means === 'quantity') quantity = value;
    }
  }
  nameRest(f, rest, address, quantity);
}

const valueFrom = (address: number | undefined) => (i: number) =>
  address === undefined ? `value ${i + 1}` : `register ${address + i}`;

function nameRest(
  f: Fields,
  rest: Layout['rest'],
  address: number | undefined,
  quantity: number | undefined,
): void {
  switch (rest) {
    case undefined:
      return;
    case 'bits':
      f.bits(address, quantity);
      return;
    case 'words':
      f.words(f.left / 2, valueFrom(address));
      return;
    case 'data':
      f.words(f.left / 2, (i) => (i === 0 ? 'data' : `data ${i + 1}`));
      return;
    case 'parts':
    case 'parts with words':
      while (f.left > 0) {
        f.number('reference type', 1, REFERENCE_TYPE);
        const file = f.number('file number', 2);
        const record = f.number('record number', 2);
        const length = f.number('record length', 2);
        if (rest === 'parts with words') f.words(length, (i) => `file ${file} record ${record + i}`);
      }
      return;
    case 'words of parts':
      while (f.left > 0) {
        const length = f.number('file response length', 1);
        f.number('reference type', 1, REFERENCE_TYPE);
        f.words((length - 1) / 2, valueFrom(undefined));
      }
      return;
    case 'objects':
      while (f.left > 0) {
        const id = f.number('object ID', 1);
        f.bytes(`object ${id}`, f.number('object length', 1), true);
      }
      return;
    default:
      f.bytes(rest);
  }
}
