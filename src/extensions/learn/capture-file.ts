import { BLOCK } from '../../common/capture-numbers.js';

/** Reads the packets in captures: pcap and pcapng, with its old and new packet blocks. */

/**
 * The first four bytes of pcap files, with the byte order and the timestamp units per second that they stand
 * for. A pcapng file begins with a section header.
 */
const PCAP: ReadonlyMap<number, { readonly little: boolean; readonly perSecond: number }> = new Map([
  [0xa1b2c3d4, { little: false, perSecond: 1e6 }],
  [0xd4c3b2a1, { little: true, perSecond: 1e6 }],
  [0xa1b23c4d, { little: false, perSecond: 1e9 }],
  [0x4d3cb2a1, { little: true, perSecond: 1e9 }],
]);

export const MOST_PACKETS = 200_000;

/** A packet and its capture time in ms. `number` counts from 1, like Wireshark's. */
export interface Packet {
  readonly number: number;
  readonly at: number;
  /** The link type, from the list at tcpdump.org. */
  readonly link: number;
  readonly bytes: Uint8Array;
}

export function isCapture(file: Uint8Array): boolean {
  if (file.length < 4) return false;
  const magic = viewOf(file).getUint32(0);
  return magic === BLOCK.sectionHeader || PCAP.has(magic);
}

/** Reads the packets in a capture. If the file is truncated, all complete packets are used. */
export function packetsOf(file: Uint8Array): Packet[] {
  const packets: Packet[] = [];
  try {
    if (viewOf(file).getUint32(0) === BLOCK.sectionHeader) readPcapng(file, packets);
    else readPcap(file, packets);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return packets;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readPcap(file: Uint8Array, packets: Packet[]): void {
  const view = viewOf(file);
  const { little = false, perSecond = 1e6 } = PCAP.get(view.getUint32(0)) ?? {};
  const link = view.getUint32(20, little) & 0xffff;
  for (let at = 24; at + 16 <= file.length && packets.length < MOST_PACKETS; ) {
    const length = view.getUint32(at + 8, little);
    const ms = 1000 * view.getUint32(at, little) + (1000 * view.getUint32(at + 4, little)) / perSecond;
    if (at + 16 + length > file.length) return;
    const bytes = file.subarray(at + 16, at + 16 + length);
    packets.push({ number: packets.length + 1, at: ms, link, bytes });
    at += 16 + length;
  }
}

const TSRESOL = 9;

function readPcapng(file: Uint8Array, packets: Packet[]): void {
  const view = viewOf(file);
  let little = false;
  let interfaces: { readonly link: number; readonly perSecond: number }[] = [];
  for (let at = 0; at + 12 <= file.length && packets.length < MOST_PACKETS; ) {
    if (view.getUint32(at) === BLOCK.sectionHeader) {
      little = view.getUint32(at + 8) !== 0x1a2b3c4d;
      interfaces = [];
    }
    const type = view.getUint32(at, little);
    const length = view.getUint32(at + 4, little);
    if (length < 12 || at + length > file.length) return;
    if (type === BLOCK.interfaceDescription)
      interfaces.push({
        link: view.getUint16(at + 8, little),
        perSecond: resolutionOf(view, at, length, little),
      });
    const isOld = type === BLOCK.packet;
    if (isOld || type === BLOCK.enhancedPacket) {
      const number = isOld ? view.getUint16(at + 8, little) : view.getUint32(at + 8, little);
      const { link, perSecond } = interfaces[number] ?? { link: 0, perSecond: 1e6 };
      const ticks = view.getUint32(at + 12, little) * 2 ** 32 + view.getUint32(at + 16, little);
      const captured = Math.min(view.getUint32(at + 20, little), length - 32);
      const bytes = file.subarray(at + 28, at + 28 + captured);
      packets.push({ number: packets.length + 1, at: (1000 * ticks) / perSecond, link, bytes });
    } else if (type === BLOCK.simplePacket) {
      const captured = Math.min(view.getUint32(at + 8, little), length - 16);
      const bytes = file.subarray(at + 12, at + 12 + captured);
      // A simple packet block has no timestamp.
      const { at: before = 0 } = packets.at(-1) ?? {};
      packets.push({ number: packets.length + 1, at: before, link: interfaces[0]?.link ?? 0, bytes });
    }
    at += length;
  }
}

/** The timestamp units per second of an interface: microseconds, unless the interface says otherwise. */
function resolutionOf(view: DataView, block: number, length: number, little: boolean): number {
  for (let at = block + 16; at + 4 <= block + length - 4; ) {
    const [code, size] = [view.getUint16(at, little), view.getUint16(at + 2, little)];
    if (code === 0) break;
    if (code === TSRESOL) {
      const value = view.getUint8(at + 4);
      return value & 0x80 ? 2 ** (value & 0x7f) : 10 ** value;
    }
    at += 4 + size + ((4 - (size % 4)) % 4);
  }
  return 1e6;
}
