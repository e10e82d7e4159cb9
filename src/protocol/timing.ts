/**
 * Character times of RTU (Modbus over Serial Line V1.02, 2.5.1.1): a character is 11 bits;
 * above 19200 baud the specification recommends fixed values, because counting characters there
 * costs a device more than it gains.
 */
const BITS_PER_CHARACTER = 11;
const FIXED_ABOVE_BAUD = 19200;
const FIXED_T15_MS = 0.75;
const FIXED_T35_MS = 1.75;

/** Time of one character on the wire, in ms. */
export function characterTime(baudRate: number): number {
  return (BITS_PER_CHARACTER * 1000) / baudRate;
}

/** t1.5, the longest pause allowed inside a frame, in ms. */
export function t15(baudRate: number): number {
  return baudRate > FIXED_ABOVE_BAUD ? FIXED_T15_MS : 1.5 * characterTime(baudRate);
}

/** t3.5, the shortest pause between frames, in ms. */
export function t35(baudRate: number): number {
  return baudRate > FIXED_ABOVE_BAUD ? FIXED_T35_MS : 3.5 * characterTime(baudRate);
}
