import { wordAt } from '../../../protocol/bytes.js';

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

/** A value in words, and what is wrong with it. */
export interface Described {
  readonly value: string;
  readonly wrong?: string | undefined;
}

type Describe = (value: number) => Described;

const decimal: Describe = (value) => ({ value: String(value) });

/** Finds every value but one wrong. */
export const only =
  (right: number, wrong: string): Describe =>
  (value) => ({ value: String(value), wrong: value === right ? undefined : wrong });

/** Names the bytes of a PDU one field after the other. Missing bytes are reported once. */
export class Fields {
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
  byte(name: string, describe: Describe = decimal): number {
    const value = this.#bytes[this.#at] ?? 0;
    return this.#add(name, 1, () => describe(value)) ? value : 0;
  }

  word(name: string, describe: Describe = decimal): number {
    const value = wordAt(this.#bytes, this.#at);
    return this.#add(name, 2, () => describe(value)) ? value : 0;
  }

  /** A count of the bytes that follow it, up to the end. */
  count(name = 'byte count'): void {
    this.byte(name, (value) => {
      const follow = this.left - 1;
      return { value: String(value), wrong: value === follow ? undefined : `${follow} bytes follow` };
    });
  }

  /** @param nameOf a word, by its number from 0 on */
  words(quantity: number, nameOf: (i: number) => string): void {
    for (let i = 0; i < quantity && this.left > 0; i++) this.word(nameOf(i));
  }

  /** All bytes that are left as bits, the lowest one first. @param first number of the first bit; undefined where nobody knows */
  bits(first: number | undefined, quantity = Number.POSITIVE_INFINITY): void {
    for (let i = 0; this.left > 0; i += 8) {
      const count = Math.max(0, Math.min(8, quantity - i));
      const from = (first ?? 0) + i;
      const range = count > 1 ? `${from}–${from + count - 1}` : String(from);
      this.byte(first === undefined ? `bits ${range}` : `coils ${range}`, (value) => ({
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

  #add(name: string, length: number, describe: () => Described): boolean {
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
