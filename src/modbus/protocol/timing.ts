/**
 * Times on a serial line, in ms. Bytes take as long as their bits. The pauses t1.5 and t3.5 count RTU
 * characters, whatever the line's character format (Modbus over Serial Line V1.02, 2.5.1.1). ASCII has
 * neither pause (2.5.2), but its replies keep t3.5 anyway.
 */

/** The settings that decide how long a character takes on the wire. */
export interface CharacterSettings {
  readonly baudRate: number;
  readonly dataBits: 7 | 8;
  readonly parity: 'none' | 'even' | 'odd';
  readonly stopBits: 1 | 2;
}

/** Bits per character for t1.5 and t3.5: start bit, 8 data bits, parity or a second stop bit, stop bit. */
const NOMINAL_BITS = 11;
/** Above this baud rate the specification recommends fixed values, to limit the processor load. */
const FIXED_ABOVE_BAUD = 19200;
const FIXED_T15_MS = 0.75;
const FIXED_T35_MS = 1.75;

/** Returns the duration of one character on the wire, from its start bit to its last stop bit, in ms. */
export function characterTime({ baudRate, dataBits, parity, stopBits }: CharacterSettings): number {
  const bits = 1 + dataBits + (parity === 'none' ? 0 : 1) + stopBits;
  return (bits * 1000) / baudRate;
}

/** Returns t1.5, the longest pause allowed inside a frame, in ms. */
export function t15(baudRate: number): number {
  return baudRate > FIXED_ABOVE_BAUD ? FIXED_T15_MS : 1.5 * nominalCharacterTime(baudRate);
}

/** Returns t3.5, the shortest pause between frames, in ms. */
export function t35(baudRate: number): number {
  return baudRate > FIXED_ABOVE_BAUD ? FIXED_T35_MS : 3.5 * nominalCharacterTime(baudRate);
}

function nominalCharacterTime(baudRate: number): number {
  return (NOMINAL_BITS * 1000) / baudRate;
}
