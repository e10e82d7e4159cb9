const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The characters that each begin or separate names and values: `,` `:` `[` `{`. */
const isSeparator = new Uint8Array(256);
for (const character of ',:[{') isSeparator[character.charCodeAt(0)] = 1;

/**
 * Counts the names and values in a JSON text, nested ones included, while the text arrives. The count is an upper
 * bound: it is the number of separators and opening brackets outside strings, and one.
 */
export class JsonParts {
  #count = 1;
  #inString = false;
  #escaped = false;

  get count(): number {
    return this.#count;
  }

  /** Counts the next bytes of the text, which is UTF-8: the bytes of its other characters are above 0x7f. */
  take(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === QUOTE) this.#inString = !this.#inString;
      else if (!this.#inString) this.#count += isSeparator[byte] ?? 0;
      else if (byte === BACKSLASH) this.#escaped = true;
    }
  }
}
