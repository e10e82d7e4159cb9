/** @param {number} value */
export function word(value) {
  return [value >> 8, value & 0xff];
}

/** An RTU frame: unit identifier, PDU, CRC low byte first. @param {number} unitId @param {...number} pdu */
export function frame(unitId, ...pdu) {
  const bytes = [unitId, ...pdu];
  const crc = crc16(bytes);
  return Buffer.from([...bytes, crc & 0xff, crc >> 8]);
}

/**
 * Computes the CRC bit by bit, as described in the specification's appendix (Modbus over Serial Line V1.02,
 * 6.2.2). @param {number[]} bytes
 */
function crc16(bytes) {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return crc;
}
