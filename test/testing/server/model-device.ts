import type { Answer } from './model-servers.js';

/*
 * A device with four tables that does what the specification says, function by function, so that a test can
 * replace one part of it: made from the Application Protocol alone.
 */

export interface ModelDevice {
  readonly holding: number[];
  readonly input: number[];
  readonly coils: number[];
  readonly discrete: number[];
  /** Puts words behind each other; a mistake puts others, or elsewhere. */
  put(first: number, words: readonly number[], code: number): void;
  putBits(first: number, bits: readonly number[], code: number): void;
  /** Called before each request. */
  before?(pdu: Uint8Array): void;
}

const word = (pdu: Uint8Array, at: number) => ((pdu[at] ?? 0) << 8) | (pdu[at + 1] ?? 0);
const bytes = (words: readonly number[]) => words.flatMap((each) => [each >> 8, each & 0xff]);
const bitsOf = (pdu: Uint8Array, at: number, many: number) =>
  Array.from({ length: many }, (_, i) => ((pdu[at + (i >> 3)] ?? 0) >> (i & 7)) & 1);
const packed = (bits: readonly number[]) =>
  Array.from({ length: Math.ceil(bits.length / 8) }, (_, i) =>
    bits.slice(8 * i, 8 * i + 8).reduce((sum, bit, at) => sum | (bit << at), 0),
  );
/** Puts a value into a cell. */
export const set = (cells: number[], at: number, value: number) => {
  cells[at] = value;
};
const numbers = (many: number, from: number) => Array.from({ length: many }, (_, i) => from + i);

export function modelDevice(wrong: Partial<ModelDevice> = {}): ModelDevice {
  const device: ModelDevice = {
    holding: numbers(300, 1000),
    input: numbers(300, 2000),
    coils: numbers(2100, 0).map((i) => Number(i % 3 === 0)),
    discrete: numbers(2100, 0).map((i) => Number(i % 3 === 1)),
    put: (first, words) =>
      void words.forEach((each, i) => {
        set(device.holding, first + i, each);
      }),
    putBits: (first, bits) =>
      void bits.forEach((each, i) => {
        set(device.coils, first + i, each);
      }),
    ...wrong,
  };
  return device;
}

/** Answers as a device that has functions 1 to 6, 15, 16, 22, 23 and nothing else. */
export function answering(device: ModelDevice): Answer {
  const refuse = (code: number, exception: number) => [code | 0x80, exception];
  return (pdu) => {
    device.before?.(pdu);
    const [code = 0] = pdu;
    const [first, many] = [word(pdu, 1), word(pdu, 3)];
    const { length } = pdu;
    const lacks = (from: number, of: number, cells: readonly number[]) => from + of > cells.length;
    const bits = code === 1 ? device.coils : device.discrete;
    const words = code === 4 ? device.input : device.holding;
    switch (code) {
      case 1:
      case 2:
        if (length !== 5 || many < 1 || many > 2000) return refuse(code, 3);
        if (lacks(first, many, bits)) return refuse(code, 2);
        return [code, Math.ceil(many / 8), ...packed(bits.slice(first, first + many))];
      case 3:
      case 4:
        if (length !== 5 || many < 1 || many > 125) return refuse(code, 3);
        if (lacks(first, many, words)) return refuse(code, 2);
        return [code, 2 * many, ...bytes(words.slice(first, first + many))];
      case 5:
        if (length !== 5 || (many !== 0 && many !== 0xff00)) return refuse(code, 3);
        if (lacks(first, 1, device.coils)) return refuse(code, 2);
        device.putBits(first, [many === 0 ? 0 : 1], code);
        return [...pdu];
      case 6:
        if (length !== 5) return refuse(code, 3);
        if (lacks(first, 1, words)) return refuse(code, 2);
        device.put(first, [many], code);
        return [...pdu];
      case 15: {
        const count = Math.ceil(many / 8);
        if (many < 1 || many > 1968 || pdu[5] !== count || length !== 6 + count) return refuse(code, 3);
        if (lacks(first, many, device.coils)) return refuse(code, 2);
        device.putBits(first, bitsOf(pdu, 6, many), code);
        return [...pdu.subarray(0, 5)];
      }
      case 16:
        if (many < 1 || many > 123 || pdu[5] !== 2 * many || length !== 6 + 2 * many) return refuse(code, 3);
        if (lacks(first, many, words)) return refuse(code, 2);
        device.put(
          first,
          numbers(many, 0).map((i) => word(pdu, 6 + 2 * i)),
          code,
        );
        return [...pdu.subarray(0, 5)];
      case 22: {
        if (length !== 7) return refuse(code, 3);
        if (lacks(first, 1, words)) return refuse(code, 2);
        const [and, or] = [many, word(pdu, 5)];
        device.put(first, [((words[first] ?? 0) & and) | (or & ~and & 0xffff)], code);
        return [...pdu];
      }
      case 23: {
        const [target, writes] = [word(pdu, 5), word(pdu, 7)];
        const isRight = many >= 1 && many <= 125 && writes >= 1 && writes <= 121;
        if (!isRight || pdu[9] !== 2 * writes || length !== 10 + 2 * writes) return refuse(code, 3);
        if (lacks(first, many, words) || lacks(target, writes, words)) return refuse(code, 2);
        device.put(
          target,
          numbers(writes, 0).map((i) => word(pdu, 10 + 2 * i)),
          code,
        );
        return [code, 2 * many, ...bytes(words.slice(first, first + many))];
      }
      default:
        return refuse(code, 1);
    }
  };
}
