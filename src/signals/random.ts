/** Seeds are 32-bit: short enough to read out over the telephone. */
export const MAX_SEED = 0xffffffff;

/**
 * A random number from 0 to below 1, determined by a seed and an index. Each number can be computed without the
 * earlier ones. Indices are whole numbers from 0 to 2^53 - 1.
 */
export function randomAt(seed: number, index: number): number {
  const low = index >>> 0;
  const high = Math.floor(index / 0x1_0000_0000);
  return mix(mix(mix(seed) + low) + high + 0x9e3779b9) / 0x1_0000_0000;
}

/** Derives a seed for each name, so that the signals of a device differ even if the device has a single seed. */
export function seedOf(seed: number, name: string): number {
  let mixed = seed;
  for (let i = 0; i < name.length; i++) mixed = mix(mixed + name.charCodeAt(i));
  return mix(mixed);
}

/** A one-to-one mapping of 32-bit numbers (the finalizer of MurmurHash3, Appleby 2011). */
function mix(number: number): number {
  let mixed = number ^ (number >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
