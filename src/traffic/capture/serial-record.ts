/** What a record on a serial line is about, with the codes of link type 250 (RTAC Serial). */
export const SERIAL_EVENTS = {
  /** Something that is told by the comment alone. */
  status: 0x00,
  sent: 0x01,
  received: 0x02,
  /** Wrong parity, or no stop bit: the port does not tell which. */
  damagedCharacters: 0x08,
  break: 0x09,
  overrun: 0x0a,
} as const;

const HEADER_LENGTH = 12;

/**
 * Bytes on a serial line behind the header of link type 250, big-endian: seconds and microseconds, event, control lines,
 * two bytes of footer. The control lines are not known here, so all of them are 0.
 * @param time in ms since 1970
 */
export function serialRecord(
  event: keyof typeof SERIAL_EVENTS,
  time: number,
  bytes: Uint8Array = new Uint8Array(),
): Uint8Array {
  const record = new Uint8Array(HEADER_LENGTH + bytes.length);
  const view = new DataView(record.buffer);
  const us = Math.round(time * 1000);
  view.setUint32(0, Math.floor(us / 1e6));
  view.setUint32(4, us % 1e6);
  view.setUint8(8, SERIAL_EVENTS[event]);
  record.set(bytes, HEADER_LENGTH);
  return record;
}
