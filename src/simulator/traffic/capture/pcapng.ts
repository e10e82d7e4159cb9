/*
 * Blocks of a pcapng file (draft-ietf-opsawg-pcapng), little-endian, one function for each kind of block. A file is
 * a section header, a description of each interface, and packets.
 */

/** The link types that captures use, with their numbers in the registry of tcpdump.org. */
const LINK_TYPES = {
  /** IPv4 or IPv6, without a header before it. */
  raw: 101,
  /** Bytes on a serial line behind a header of 12 bytes (`serial-record.ts`). */
  serial: 250,
} as const;

export type LinkType = keyof typeof LINK_TYPES;

const SECTION_HEADER = 0x0a0d0d0a;
const INTERFACE_DESCRIPTION = 1;
const INTERFACE_STATISTICS = 5;
const ENHANCED_PACKET = 6;

const BYTE_ORDER_MAGIC = 0x1a2b3c4d;
const MAJOR_VERSION = 1;

const OPTION_COMMENT = 1;
const OPTION_INTERFACE_NAME = 2;
const OPTION_INTERFACE_DESCRIPTION = 3;
const OPTION_APPLICATION = 4;

/** The bytes around the content of a block: type and length before it, the length again behind it. */
const AROUND_BLOCK = 12;
const TWO_TO_32 = 2 ** 32;
/** The most characters of the text of an option. Longer text is cut. */
const MAX_TEXT = 16 * 1024;

/** @param application the program that writes the file */
export function sectionHeader(application: string): Uint8Array {
  const fixed = words(BYTE_ORDER_MAGIC, MAJOR_VERSION, 0xffffffff, 0xffffffff);
  return block(SECTION_HEADER, fixed, [[OPTION_APPLICATION, application]]);
}

/**
 * Describes an interface. Interfaces count from 0 in the order of their descriptions. Times of their packets
 * are in µs.
 */
export function interfaceDescription(linkType: LinkType, name: string, description: string): Uint8Array {
  return block(INTERFACE_DESCRIPTION, words(LINK_TYPES[linkType], 0), [
    [OPTION_INTERFACE_NAME, name],
    [OPTION_INTERFACE_DESCRIPTION, description],
  ]);
}

/** @param time in ms since 1970 */
export function enhancedPacket(
  interfaceId: number,
  time: number,
  bytes: Uint8Array,
  comment?: string,
): Uint8Array {
  const { length } = bytes;
  const fixed = new Uint8Array(20 + padded(length));
  fixed.set(words(interfaceId, ...timestamp(time), length, length));
  fixed.set(bytes, 20);
  return block(ENHANCED_PACKET, fixed, comment === undefined ? [] : [[OPTION_COMMENT, comment]]);
}

/** Says that nothing has changed on an interface up to `time`, in ms since 1970. */
export function interfaceStatistics(interfaceId: number, time: number): Uint8Array {
  return block(INTERFACE_STATISTICS, words(interfaceId, ...timestamp(time)), []);
}

type Option = readonly [code: number, text: string];

function block(type: number, fixed: Uint8Array, options: readonly Option[]): Uint8Array {
  const texts = options.map(([code, text]) => [code, UTF8.encode(text.slice(0, MAX_TEXT))] as const);
  let size = AROUND_BLOCK + fixed.length;
  for (const [, text] of texts) size += 4 + padded(text.length);
  if (texts.length > 0) size += 4;
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, type, true);
  view.setUint32(4, size, true);
  bytes.set(fixed, 8);
  let at = 8 + fixed.length;
  for (const [code, text] of texts) {
    view.setUint16(at, code, true);
    view.setUint16(at + 2, text.length, true);
    bytes.set(text, at + 4);
    at += 4 + padded(text.length);
  }
  view.setUint32(size - 4, size, true);
  return bytes;
}

const UTF8 = new TextEncoder();

function words(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  for (const [i, value] of values.entries()) view.setUint32(4 * i, value, true);
  return bytes;
}

/** A time in µs since 1970, the upper half first. */
function timestamp(ms: number): [upper: number, lower: number] {
  const us = Math.round(ms * 1000);
  return [Math.floor(us / TWO_TO_32), us % TWO_TO_32];
}

/** The length with padding: everything in a block is filled up to a multiple of four bytes. */
function padded(length: number): number {
  return (length + 3) & ~3;
}
