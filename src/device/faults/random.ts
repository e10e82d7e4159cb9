import type { Random } from '../../common/random.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { type Budget, WORK } from './budget.js';

/** What random parts of a reply are made with. */
interface Source {
  readonly random: Random;
  readonly framing: Framing;
  readonly budget: Budget;
}

/** Returns `length` random bytes that the line can carry; none when the budget does not allow them. */
function randomBytes({ random, framing, budget }: Source, length: number): Uint8Array {
  if (!budget.spend({ bytes: length, work: WORK.randomByte * length })) return new Uint8Array(0);
  const bytes = new Uint8Array(length);
  // Uint8Array.from would take ten times as long.
  for (let i = 0; i < length; i++) bytes[i] = random.below(1 << framing.characterBits);
  return bytes;
}

/**
 * Draws `length` random bytes for each of `frames` frames. Each call of the result returns the bytes for the
 * next frame.
 */
export function randomBytesFor(frames: number, source: Source, length: number): () => Uint8Array {
  const bytes = randomBytes(source, frames * length);
  let end = 0;
  return () => {
    end += length;
    return bytes.subarray(end - length, end);
  };
}

/** Draws `count` distinct numbers below `limit`, or all such numbers when there are fewer. */
export function pick({ random, budget }: Source, count: number, limit: number): number[] {
  const length = Math.min(count, limit);
  if (!budget.spend({ work: WORK.number * length })) return [];
  // These are the first steps of a Fisher-Yates shuffle. Only the moved numbers are stored, because a frame
  // of 64 KiB has half a million bits.
  const moved = new Map<number, number>();
  const at = (index: number) => moved.get(index) ?? index;
  return Array.from({ length }, (_, i) => {
    const j = i + random.below(limit - i);
    const picked = at(j);
    moved.set(j, at(i));
    return picked;
  });
}
