import { wordAt } from '../../../../modbus/protocol/bytes.js';

/** A field of a frame. */
export interface ShownField {
  readonly name: string;
  /** Position in the bytes of the event, and number of bytes; 0 bytes if the field is missing. */
  readonly at: number;
  readonly length: number;
  readonly value: string;
  /** What is wrong with the field; undefined if nothing is. */
  readonly wrong?: string | undefined;
}

/** Puts a value into words, and says what is wrong with it. */
export type Describe = (value: number) => Pick<ShownField, 'value' | 'wrong'>;

const decimal: Describe = (value) => ({ value: String(value) });

/** Names bytes, one field after the other. Missing bytes are reported once. */
export class Fields {
  readonly list: ShownField[] = [];
  readonly bytes: Uint8Array;
  #at = 0;
  #end: number;
  #isCut = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#end = bytes.length;
  }

  /** Number of bytes without a name; 0 when some were missing. */
  get left(): number {
    return this.#isCut ? 0 : this.#end - this.#at;
  }

  /** The bytes without a name. */
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

  /** Names words. @param nameOf makes the name of a word from its index */
  words(quantity: number, nameOf: (i: number) => string): void {
    for (let i = 0; i < quantity && this.left > 0; i++) this.number(nameOf(i), 2);
  }

  /**
   * Names all remaining bytes as bits, the lowest bit first.
   * @param first number of the first bit; undefined if it is not known
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
    const wrong = `${length - present} of ${length} bytes are missing`;
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
