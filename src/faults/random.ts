import type { Framing } from '../protocol/framing.js';
import { type Budget, WORK } from './budget.js';

/** A seeded source of random numbers: the same seed gives the same numbers on every machine. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number;
}

/** Seeds have 32 bits, which is short enough to read out over the telephone. */
export const MAX_SEED = 0xffffffff;

/**
 * The random source for the `hit`-th use of a seed. Each use has its own source, so one reply's numbers never depend on
 * how many an earlier reply drew.
 */
export function seededRandom(seed: number, hit: number): Random {
  // SplitMix32 (Steele, Lea, Flood 2014) has a full period and works from any starting state. If two states were a
  // whole number of increments apart, both would give the same sequence, shifted. So the starting states are mixed too.
  let state = mix(mix(seed) + hit);
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    return mix(state) / 0x1_0000_0000;
  };
  return { next, below: (limit) => Math.floor(next() * limit) };
}

/** Maps a 32-bit number to another; different numbers give different results. */
function mix(number: number): number {
  let mixed = number ^ (number >>> 16);
  mixed = Math.imul(mixed, 0x21f0aaad);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** What random parts of a reply are made with. */
interface Source {
  readonly random: Random;
  readonly framing: Framing;
  readonly budget: Budget;
}

/** `length` random bytes that the line can carry; empty when the budget does not allow them. */
export function randomBytes({ random, framing, budget }: Source, length: number): Uint8Array {
  if (!budget.spend({ bytes: length, work: WORK.randomByte * length })) return new Uint8Array(0);
  const bytes = new Uint8Array(length);
  // Uint8Array.from would take ten times as long.
  for (let i = 0; i < length; i++) bytes[i] = random.below(1 << framing.characterBits);
  return bytes;
}

/** Draws `length` random bytes for each of `frames` frames. Each call of the result returns those of the next frame. */
export function randomBytesFor(frames: number, source: Source, length: number): () => Uint8Array {
  const bytes = randomBytes(source, frames * length);
  let end = 0;
  return () => {
    end += length;
    return bytes.subarray(end - length, end);
  };
}

/** `count` distinct numbers below `limit`, or all of them when there are fewer. */
export function pick({ random, budget }: Source, count: number, limit: number): number[] {
  const length = Math.min(count, limit);
  if (!budget.spend({ work: WORK.number * length })) return [];
  // The first steps of a Fisher-Yates shuffle. Only the moved numbers are stored, because a frame of 64 KiB has half a
  // million bits.
  const moved = new Map<number, number>();
  const at = (index: number) => moved.get(index) ?? index;
  return Array.from({ length }, (_, i) => {
    const j = i + random.below(limit - i);
    const picked = at(j);
    moved.set(j, at(i));
    return picked;
  });
}
