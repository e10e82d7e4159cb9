/** Seeds have 32 bits, which is short enough to read out over the telephone. */
export const MAX_SEED = 0xffffffff;

/** A seeded source of random numbers: the same seed gives the same numbers on every machine. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number;
}

/**
 * The random source for the `use`-th use of a seed. Each use has its own source, so the numbers of one use never depend
 * on how many an earlier use drew.
 */
export function seededRandom(seed: number, use: number): Random {
  let state = stateOf(seed, use);
  const next = () => {
    state = (state + INCREMENT) >>> 0;
    return mix(state) / 0x1_0000_0000;
  };
  return { next, below: (limit) => Math.floor(next() * limit) };
}

/**
 * A random number from 0 to below 1, determined by a seed and an index. Each number can be computed without the
 * earlier ones. Indices are whole numbers from 0 to 2^53 - 1. Below 2^32, the number is the first one of
 * `seededRandom(seed, index)`.
 */
export function randomAt(seed: number, index: number): number {
  const high = Math.floor(index / 0x1_0000_0000);
  return mix(stateOf(seed, index >>> 0) + high + INCREMENT) / 0x1_0000_0000;
}

/** Derives a seed for each name, so that the signals of a device differ even if the device has a single seed. */
export function seedOf(seed: number, name: string): number {
  let mixed = seed;
  for (let i = 0; i < name.length; i++) mixed = mix(mixed + name.charCodeAt(i));
  return mix(mixed);
}

/** SplitMix32 (Steele, Lea, Flood 2014) has a full period and works from any starting state. */
const INCREMENT = 0x9e3779b9;

/**
 * The starting state of a use of a seed. If two states were a whole number of increments apart, both uses would give the
 * same sequence, shifted. So the starting states are mixed too.
 */
function stateOf(seed: number, use: number): number {
  return mix(mix(seed) + use);
}

/** Maps a 32-bit number to another; different numbers give different results. */
function mix(number: number): number {
  let mixed = number ^ (number >>> 16);
  mixed = Math.imul(mixed, 0x21f0aaad);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
