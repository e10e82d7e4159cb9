/**
 * Maximum number of characters in a text. Longer text is cut: it would not be read, and its length must fit
 * in the length field.
 */
const MAX_TEXT = 1024;
/** The flag, in the length of a text, for two bytes per character. */
const WIDE = 0x8000;

/** Maximum number of bytes that `Writer.text` needs for a text. */
export function sizeOfText(text: string): number {
  return 2 + 2 * Math.min(text.length, MAX_TEXT);
}

/** Writes numbers, texts and bytes to memory, one after another. The caller makes sure that there is room. */
export class Writer {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** The offset of the next value. */
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** A copy of everything written so far. */
  written(): Uint8Array {
    return this.#bytes.slice(0, this.at);
  }

  byte(value: number): void {
    this.#bytes[this.at++] = value;
  }

  word(value: number): void {
    this.#view.setUint16(this.at, value, true);
    this.at += 2;
  }

  long(value: number): void {
    this.#view.setUint32(this.at, value, true);
    this.at += 4;
  }

  /** Writes a number, or that it is undefined. */
  number(value: number | undefined): void {
    this.#view.setFloat64(this.at, value ?? Number.NaN, true);
    this.at += 8;
  }

  /** Writes the length and then the bytes. */
  bytes(value: Uint8Array): void {
    const { length } = value;
    this.long(length);
    const [memory, start] = [this.#bytes, this.at];
    // For a few bytes, as in most frames, a call of `set` costs more than this loop.
    if (length > 64) memory.set(value, start);
    else for (let i = 0; i < length; i++) memory[start + i] = value[i] as number;
    this.at = start + length;
  }

  /** Writes the length and then the text: one byte per character, or two if a character needs them. */
  text(value: string): void {
    const length = Math.min(value.length, MAX_TEXT);
    const [memory, start] = [this.#bytes, this.at + 2];
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0xff) {
        this.#wideText(value, length);
        return;
      }
      memory[start + i] = code;
    }
    this.word(length);
    this.at = start + length;
  }

  #wideText(value: string, length: number): void {
    this.word(length | WIDE);
    for (let i = 0; i < length; i++) this.word(value.charCodeAt(i));
  }
}

/** Reads what a `Writer` has written, in the same order. */
export class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** The offset of the next value. */
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  byte(): number {
    return this.#view.getUint8(this.at++);
  }

  word(): number {
    this.at += 2;
    return this.#view.getUint16(this.at - 2, true);
  }

  long(): number {
    this.at += 4;
    return this.#view.getUint32(this.at - 4, true);
  }

  number(): number | undefined {
    this.at += 8;
    const value = this.#view.getFloat64(this.at - 8, true);
    return Number.isNaN(value) ? undefined : value;
  }

  /** Reads bytes into a copy, because the memory will be reused. */
  bytes(): Uint8Array {
    const length = this.long();
    this.at += length;
    return this.#bytes.slice(this.at - length, this.at);
  }

  text(): string {
    const length = this.word();
    let text = '';
    for (let left = length & ~WIDE; left > 0; left--) {
      text += String.fromCharCode((length & WIDE) === 0 ? this.byte() : this.word());
    }
    return text;
  }
}
