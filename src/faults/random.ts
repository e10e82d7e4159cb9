import type { Framing } from '../protocol/framing.js';
import { type Budget, WORK } from './budget.js';

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

/** What the random parts of a reply are made of. */
interface Source {
  readonly random: Random;
  readonly framing: Framing;
  readonly budget: Budget;
}

/** `length` random bytes that the line can carry; none when the reply can't have so many. */
export function randomBytes({ random, framing, budget }: Source, length: number): Uint8Array {
  if (!budget.spend({ bytes: length, work: WORK.randomByte * length })) return new Uint8Array(0);
  const bytes = new Uint8Array(length);
  // Not with Uint8Array.from, which takes ten times as long.
  for (let i = 0; i < length; i++) bytes[i] = random.below(1 << framing.characterBits);
  return bytes;
}

/** `length` random bytes for each of so many frames, with every call those of the next one. */
export function randomBytesFor(frames: number, source: Source, length: number): () => Uint8Array {
  const bytes = randomBytes(source, frames * length);
  let end = 0;
  return () => {
    end += length;
    return bytes.subarray(end - length, end);
  };
}

/** `count` different numbers below `limit`, all of them when there are no more. */
export function pick({ random, budget }: Source, count: number, limit: number): number[] {
  const length = Math.min(count, limit);
  if (!budget.spend({ work: WORK.number * length })) return [];
  // The beginning of a shuffle (Fisher, Yates) of all numbers, of which only those are kept that have been moved: a
  // frame of 64 KiB has half a million bits.
  const moved = new Map<number, number>();
  const at = (index: number) => moved.get(index) ?? index;
  return Array.from({ length }, (_, i) => {
    const j = i + random.below(limit - i);
    const picked = at(j);
    moved.set(j, at(i));
    return picked;
  });
}
