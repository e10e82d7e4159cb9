import { notDefined } from '../../../../device/registers/undefined.js';
import type { RegisterView, Words } from '../../../../simulator/commands/schemas/value.js';

/** The registers of a table as they were last read, by address. */
export class Known {
  readonly #words = new Map<number, number | null>();
  readonly #access = new Map<number, string>();
  /** The value that a register belongs to; absent for a register that is its own value. */
  readonly #values = new Map<number, RegisterView>();
  bits: 1 | 16 = 16;

  take({ from, words, access, bits, values }: Words): void {
    this.bits = bits;
    words.forEach((word, i) => {
      this.#words.set(from + i, word);
      this.#access.set(from + i, access[i] as string);
      this.#values.delete(from + i);
    });
    for (const value of values) {
      for (let i = 0; i < value.registers; i++) this.#values.set(value.address + i, value);
    }
  }

  /** The word at an address; undefined before it was read, null if nothing is defined there. */
  wordAt(address: number): number | null | undefined {
    return this.#words.get(address);
  }

  /** Adjacent words; undefined if one of them is not known or not defined. */
  wordsAt(address: number, count: number): readonly number[] | undefined {
    const words = Array.from({ length: count }, (_, i) => this.#words.get(address + i));
    return words.every((word) => typeof word === 'number') ? (words as number[]) : undefined;
  }

  valueAt(address: number): RegisterView | undefined {
    return this.#values.get(address);
  }

  isClientWritable(address: number): boolean {
    return this.#access.get(address) === 'w';
  }
}

/** Why a register can't be changed; undefined if it can. @param mayWrite whether this session may write */
export function whyNot(known: Known, address: number, mayWrite: boolean): string | undefined {
  if (!mayWrite) return 'this session may only read';
  if (known.wordAt(address) === null) return notDefined(address);
  const kind = Object.keys(known.valueAt(address)?.signal ?? {})[0];
  if (kind === undefined || kind === 'counter') return undefined;
  return `a signal (${kind}) moves this value; freeze it first`;
}
