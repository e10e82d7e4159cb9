/**
 * A piece of what a port with parity marks received, in the order of the wire: good characters or damaged
 * ones, at least one.
 */
interface ReceivedCharacters {
  readonly kind: 'bytes' | 'damaged';
  readonly bytes: Uint8Array;
}

/** Removes the marks from the bytes that a port delivers. A mark may be cut at any place. */
export interface MarkDecoder {
  /** Takes the next bytes. @param chunk is not kept, but the bytes returned may be views of it */
  push(chunk: Uint8Array): readonly ReceivedCharacters[];
}

/**
 * termios(3), PARMRK: a character with a parity or framing error X is read as the three bytes \377 \0 X, a
 * break as \377 \0 \0, and a good \377 as \377 \377.
 */
const MARK = 0xff;
const DAMAGED = 0x00;

/** Makes a decoder that expects the start of a character. */
export function createMarkDecoder(): MarkDecoder {
  let state: 'character' | 'marked' | 'damaged' = 'character';

  return {
    push(chunk) {
      if (state === 'character' && !chunk.includes(MARK)) {
        return chunk.length === 0 ? [] : [{ kind: 'bytes', bytes: chunk }];
      }
      const found = new Pieces(chunk.length + 1);
      for (const byte of chunk) {
        if (state === 'damaged') {
          found.add('damaged', byte);
          state = 'character';
        } else if (state === 'character') {
          if (byte === MARK) state = 'marked';
          else found.add('bytes', byte);
        } else if (byte === DAMAGED) {
          state = 'damaged';
        } else {
          // After a mark there is another mark, unless somebody has switched the marks off. Then this was a
          // character.
          found.add('bytes', MARK);
          if (byte !== MARK) found.add('bytes', byte);
          state = 'character';
        }
      }
      return found.end();
    },
  };
}

/** Collects good and damaged characters into as few pieces as possible. */
class Pieces {
  readonly #bytes: Uint8Array;
  readonly #pieces: ReceivedCharacters[] = [];
  #kind: ReceivedCharacters['kind'] = 'bytes';
  #start = 0;
  #end = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  add(kind: ReceivedCharacters['kind'], character: number): void {
    if (kind !== this.#kind) this.end();
    this.#kind = kind;
    this.#bytes[this.#end++] = character;
  }

  end(): ReceivedCharacters[] {
    if (this.#end > this.#start) {
      this.#pieces.push({ kind: this.#kind, bytes: this.#bytes.subarray(this.#start, this.#end) });
      this.#start = this.#end;
    }
    return this.#pieces;
  }
}
