/** A source of random numbers that a seed decides: the same seed gives the same numbers, on every machine. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number;
}

/** Seeds are 32-bit: short enough to read out over the telephone. */
export const MAX_SEED = 0xffffffff;

/**
 * The random source for the `hit`-th use of a seed. Each use has its own, so that what one reply draws never
 * depends on how much an earlier one has drawn.
 */
export function seededRandom(seed: number, hit: number): Random {
  // SplitMix32 (Steele, Lea, Flood 2014): full period, and good from any starting state. The states of two uses must
  // not be whole increments apart, or the numbers of one would be those of the other, shifted: so they are mixed too.
  let state = mix(mix(seed) + hit);
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    return mix(state) / 0x1_0000_0000;
  };
  return { next, below: (limit) => Math.floor(next() * limit) };
}

/** A 32-bit number made of another one, each of a different one. */
function mix(number: number): number {
  let mixed = number ^ (number >>> 16);
  mixed = Math.imul(mixed, 0x21f0aaad);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** `length` random bytes of so many bits. */
export function randomBytes(random: Random, length: number, bits: 7 | 8): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(1 << bits));
}

/** `count` different numbers below `limit`, all of them when there are no more. */
export function pick(random: Random, count: number, limit: number): number[] {
  // The beginning of a shuffle (Fisher, Yates) of all numbers, of which only those are kept that have been moved: a
  // frame of 64 KiB has half a million bits.
  const moved = new Map<number, number>();
  const at = (index: number) => moved.get(index) ?? index;
  return Array.from({ length: Math.min(count, limit) }, (_, i) => {
    const j = i + random.below(limit - i);
    const picked = at(j);
    moved.set(j, at(i));
    return picked;
  });
}
