/** Seeds are 32-bit: short enough to read out over the telephone. */
export const MAX_SEED = 0xffffffff;

/**
 * A random number from 0 to below 1 that a seed and an index decide, so that any of them can be had without those
 * before it. Indices are whole numbers from 0 to 2^53 - 1.
 */
export function randomAt(seed: number, index: number): number {
  const low = index >>> 0;
  const high = Math.floor(index / 0x1_0000_0000);
  return mix(mix(mix(seed) + low) + high + 0x9e3779b9) / 0x1_0000_0000;
}

/** A seed for each name, so that the signals of a device differ when it has one seed for all. */
export function seedOf(seed: number, name: string): number {
  let mixed = seed;
  for (let i = 0; i < name.length; i++) mixed = mix(mixed + name.charCodeAt(i));
  return mix(mixed);
}

/** A 32-bit number made of another one, each of a different one (the finalizer of MurmurHash3, Appleby 2011). */
function mix(number: number): number {
  let mixed = number ^ (number >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
