/**
 * The table of CRC-16 with the reflected polynomial 0xA001, for a byte at a time (Modbus over Serial Line
 * V1.02, 6.2.2).
 */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xa001 : crc >>> 1;
  return crc;
});

/**
 * Returns the CRC of `bytes[start..end)`. A frame carries the CRC low byte first; over a whole frame, CRC
 * included, the result is 0.
 */
export function crc16(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let crc = 0xffff;
  for (let i = start; i < end; i++)
    crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return crc;
}
