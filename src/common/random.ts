/** The largest seed. A seed has 32 bits, short enough to be read out over the telephone. */
export const MAX_SEED = 0xffffffff;

/** A seeded source of random numbers: the same seed gives the same numbers on every machine. */
export interface Random {
  /** Returns a number from 0 to below 1. */
  next(): number;
  /** Returns a whole number from 0 to `limit - 1`. */
  below(limit: number): number;
}

/** Draws a new seed. @param random returns a number from 0 to below 1 */
export function newSeed(random: () => number): number {
  return Math.floor(random() * (MAX_SEED + 1));
}

/**
 * Returns the random source for the `use`-th use of a seed. Each use has its own source, so the numbers of
 * one use never depend on how many numbers an earlier use drew.
 */
export function seededRandom(seed: number, use: number): Random {
  let state = stateOf(seed, use);
  const next = () => {
    const number = numberAfter(state);
    state = (state + INCREMENT) >>> 0;
    return number;
  };
  return { next, below: (limit) => Math.floor(next() * limit) };
}

/**
 * Returns the first number of `seededRandom(seed, use)` without creating the source. Uses are whole numbers
 * from 0 to 2^53 - 1.
 */
export function randomAt(seed: number, use: number): number {
  return numberAfter(stateOf(seed, use));
}

/**
 * Derives a seed for each name, so that the signals of a device differ even if the device has a single seed.
 */
export function seedOf(seed: number, name: string): number {
  let mixed = seed;
  for (let i = 0; i < name.length; i++) mixed = mix(mixed + name.charCodeAt(i));
  return mix(mixed);
}

/** SplitMix32 (Steele, Lea, Flood 2014) has a full period and works from any starting state. */
const INCREMENT = 0x9e3779b9;

function numberAfter(state: number): number {
  return mix(state + INCREMENT) / 0x1_0000_0000;
}

/**
 * Returns the starting state for one use of a seed. If two states were a whole number of increments apart,
 * both uses would give the same sequence, shifted. So the starting states are mixed too.
 */
function stateOf(seed: number, use: number): number {
  return mix(mix(seed) + (use >>> 0)) + Math.floor(use / 0x1_0000_0000);
}

/** Maps a 32-bit number to another; different numbers give different results. */
function mix(number: number): number {
  let mixed = number ^ (number >>> 16);
  mixed = Math.imul(mixed, 0x21f0aaad);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
