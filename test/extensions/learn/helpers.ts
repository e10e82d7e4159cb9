import { pino } from 'pino';
import { loadNative } from '../../../src/document/load.js';
import { learnFiles } from '../../../src/extensions/learn/learn.js';
import { AsciiFraming } from '../../../src/modbus/protocol/ascii.js';
import { RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { bytesOf, hexOf } from '../../modbus/protocol/hex.js';
import { answerAtOnce } from '../../simulator/bus/answer-at-once.js';

const FRAMINGS = { rtu: RTU, ascii: new AsciiFraming(), socket: SOCKET };

/** What is learned from a log or a capture, and a client of the written bench. */
export function learned(content: string | Uint8Array) {
  const result = learnFiles([Buffer.from(content)], 'log');
  if (!result.ok) throw new Error(result.error);
  const made = result.value;
  const loaded = loadNative(made.text, '.');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const simulator = new Simulator(loaded.configuration, pino({ level: 'silent' }));
  const names = [...simulator.lines.keys()];
  /** The bytes that a client gets for those that it sends. */
  const ask = (request: string, name = names[0] ?? ''): string => {
    const line = simulator.lines.get(name);
    const content = FRAMINGS[line?.definition.framing ?? 'rtu'].decode(bytesOf(request));
    if (!line || !content) throw new Error('no request');
    const plan = answerAtOnce(line.bus, { ...content, clientId: 1 })?.plan;
    const steps = plan?.kind === 'send' ? plan.steps : [];
    return steps.map((step) => (step.kind === 'bytes' ? hexOf(step.bytes) : step.kind)).join('');
  };
  return { ...made, ask, names };
}

export interface Packet {
  readonly from: number;
  readonly to: number;
  /** The last byte of the server's address; the client's is 100. */
  readonly server?: number;
  readonly sequence?: number;
  readonly hex: string;
}

/** An IP packet with a TCP segment. */
export function packet({ from, to, server = 1, sequence = 7, hex }: Packet): Uint8Array {
  const data = bytesOf(hex);
  const ip = new DataView(new ArrayBuffer(40 + data.length));
  ip.setUint8(0, 0x45);
  ip.setUint16(2, 40 + data.length);
  ip.setUint8(9, 6);
  ip.setUint8(15, from < to ? server : 100);
  ip.setUint8(19, from < to ? 100 : server);
  ip.setUint16(20, from);
  ip.setUint16(22, to);
  ip.setUint32(24, sequence);
  ip.setUint8(32, 0x50);
  const bytes = new Uint8Array(ip.buffer);
  bytes.set(data, 40);
  return bytes;
}

/** What stands before an IP packet, by link type. */
const HEADERS: Readonly<Record<number, string>> = {
  0: '02000000',
  1: `${'00'.repeat(12)} 0800`,
  108: '00000002',
  113: '0000 0304 0006 000000000000 0000 0800',
  276: '0800 0000 00000001 0304 00 06 0000000000000000',
};

export function pcap(link: number, ...packets: readonly Uint8Array[]): Buffer {
  const header = Buffer.from('d4c3b2a1020004000000000000000000ffff000000000000', 'hex');
  header.writeUInt32LE(link, 20);
  const records = packets.map((each) => {
    const bytes = Buffer.concat([bytesOf(HEADERS[link] ?? ''), each]);
    const head = Buffer.alloc(16);
    head.writeUInt32LE(bytes.length, 8);
    head.writeUInt32LE(bytes.length, 12);
    return Buffer.concat([head, bytes]);
  });
  return Buffer.concat([header, ...records]);
}
