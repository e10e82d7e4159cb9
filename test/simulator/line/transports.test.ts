import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import modbusSerial from 'modbus-serial';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AsciiFraming } from '../../../src/modbus/protocol/ascii.js';
import { hex } from '../../../src/modbus/protocol/bytes.js';
import { type Framing, RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { openRawClient } from '../../cli/verbs/clients.js';
import { Certificates, type Identity, roleExtension } from '../../modbus/transport/socket/certificates.js';
import { RawClient } from '../../modbus/transport/socket/raw-client.js';
import { TlsClient } from '../../modbus/transport/socket/tls-client.js';
import { nativeSetup } from '../../support/configuration.js';
import { exchangesOf } from '../../support/exchanges.js';
import { type RunningSimulator, startSimulator } from '../../support/simulator.js';

/** Sends bytes and takes what comes back, whatever carries them. */
interface Peer {
  send(bytes: Uint8Array): void;
  readonly received: () => Uint8Array;
  close(): void | Promise<void>;
}

interface Way {
  readonly line: string;
  readonly framing: Framing;
  readonly open: () => Promise<Peer>;
}

const certificates = new Certificates();
let client: Identity;
let running: RunningSimulator;

const units = { 1: 'meter', 2: 'meter' };

beforeAll(async () => {
  const server = certificates.signed('server');
  client = certificates.signed('client', { extension: roleExtension('ASN1:UTF8String:operator') });
  const tls = { port: 0, cert: server.cert, key: server.key, ca: certificates.ca.cert };
  running = await startSimulator(
    nativeSetup({
      devices: {
        meter: { registers: { holding: [{ address: 0, value: [0x0102, 0x0304, 3], write: true }] } },
      },
      lines: {
        rtu: { serial: { path: 'virtual', baudRate: 115200 }, units },
        ascii: { serial: { path: 'virtual', baudRate: 115200 }, framing: 'ascii', units },
        tcp: { tcp: { port: 0 }, units },
        'rtu over tcp': { tcp: { port: 0 }, framing: 'rtu', units },
        'ascii over tcp': { tcp: { port: 0 }, framing: 'ascii', units },
        tls: { tls, units },
        udp: { udp: { port: 0 }, units },
        'rtu over udp': { udp: { port: 0 }, framing: 'rtu', units },
      },
    }),
  );
});
afterAll(async () => {
  await running.stop();
  certificates.remove();
});

async function serialPeer(line: string): Promise<Peer> {
  const port = await openRawClient(running.path(line));
  const bytes: number[] = [];
  return {
    send: port.send,
    received: () => {
      bytes.push(...port.take());
      return Uint8Array.from(bytes);
    },
    close: port.close,
  };
}

async function streamPeer(opened: RawClient): Promise<Peer> {
  return {
    send: (bytes) => opened.send(Buffer.from(bytes)),
    received: () => opened.received,
    close: () => void opened.socket.destroy(),
  };
}

async function udpPeer(line: string): Promise<Peer> {
  const socket: UdpSocket = createSocket('udp4');
  const bytes: number[] = [];
  socket.on('message', (datagram) => bytes.push(...datagram));
  return {
    send: (datagram) => socket.send(datagram, running.port(line), '127.0.0.1'),
    received: () => Uint8Array.from(bytes),
    close: () => void socket.close(),
  };
}

const overTcp = (line: string) => () => streamPeer(new RawClient(running.port(line), '127.0.0.1'));
const overTls = () =>
  streamPeer(new TlsClient(running.port('tls'), { ca: certificates.ca, identity: client }));

const WAYS: Way[] = [
  { line: 'rtu', framing: RTU, open: () => serialPeer('rtu') },
  { line: 'ascii', framing: new AsciiFraming(), open: () => serialPeer('ascii') },
  { line: 'tcp', framing: SOCKET, open: overTcp('tcp') },
  { line: 'rtu over tcp', framing: RTU, open: overTcp('rtu over tcp') },
  { line: 'ascii over tcp', framing: new AsciiFraming(), open: overTcp('ascii over tcp') },
  { line: 'tls', framing: SOCKET, open: overTls },
  { line: 'udp', framing: SOCKET, open: () => udpPeer('udp') },
  { line: 'rtu over udp', framing: RTU, open: () => udpPeer('rtu over udp') },
];

const peers: Peer[] = [];
afterEach(async () => {
  for (const peer of peers.splice(0)) await peer.close();
  for (const { rule } of running.simulator.faults.rules.list())
    running.simulator.faults.rules.remove(rule.name);
});

const READ = Uint8Array.of(3, 0, 0, 0, 2);
const VALUES = Uint8Array.of(3, 4, 1, 2, 3, 4);
/** A net for a reply that never comes. */
const LIMIT_MS = 30_000;
/** Long enough for a reply that must not come, on a machine that is not stuck. */
const SILENCE_MS = 150;

describe.each(WAYS)('the line $line', ({ line, framing, open }) => {
  const adu = (pdu: Uint8Array, unitId = 1) => framing.encode({ transactionId: 7, unitId, pdu });

  async function opened(): Promise<Peer> {
    const peer = await open();
    peers.push(peer);
    return peer;
  }

  /** What comes back for a request: `length` bytes, or what comes in a little while when nothing should. */
  async function ask(peer: Peer, request: Uint8Array, length: number): Promise<string> {
    peer.send(request);
    const giveUpAt = performance.now() + (length > 0 ? LIMIT_MS : SILENCE_MS);
    while (performance.now() < giveUpAt && (length === 0 || peer.received().length < length)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return hex(peer.received());
  }

  function rule(faults: readonly object[], when: object = {}): void {
    running.addRule({ name: 'rule', when: { line, ...when }, do: faults });
  }

  /** The exchange of this line that was last. */
  const last = () => exchangesOf(running.simulator)[0];

  it('answers', async () => {
    const reply = adu(VALUES);
    expect(await ask(await opened(), adu(READ), reply.length)).toBe(hex(reply));
  });

  it('sends the exception that a rule orders, to the unit that it aims at', async () => {
    rule([{ exception: 4 }], { unit: 2 });
    const exception = adu(Uint8Array.of(0x83, 4), 2);
    const peer = await opened();
    expect(await ask(peer, adu(READ, 2), exception.length)).toBe(hex(exception));
    const both = Buffer.concat([exception, adu(VALUES)]);
    expect(await ask(peer, adu(READ), both.length)).toBe(hex(both));
  });

  it('says nothing when a rule wants silence', async () => {
    rule([{ silence: true }], { count: 1 });
    const peer = await opened();
    expect(await ask(peer, adu(READ), 0)).toBe('');
    expect(await ask(peer, adu(READ), adu(VALUES).length)).toBe(hex(adu(VALUES)));
  });

  it('delays a reply, never by less, and tells when it left', async () => {
    rule([{ delay: 60 }]);
    const reply = adu(VALUES);
    const peer = await opened();
    const before = last()?.seq;
    expect(await ask(peer, adu(READ), reply.length)).toBe(hex(reply));
    // A serial line tells of it when the last character has left, which may be after the client has it.
    await expect.poll(() => last()?.seq).not.toBe(before);
    const exchange = last();
    expect(exchange?.report?.ended).toBe('complete');
    const [step] = exchange?.report?.steps ?? [];
    expect(step?.outcome).toBe('achieved');
    expect((step?.achievedAt ?? 0) - (exchange?.requestedAt ?? 0)).toBeGreaterThanOrEqual(60);
  });

  it('changes values and keeps the frame valid', async () => {
    rule([{ values: [0xbeef] }]);
    const reply = adu(Uint8Array.of(3, 4, 0xbe, 0xef, 3, 4));
    expect(await ask(await opened(), adu(READ), reply.length)).toBe(hex(reply));
  });

  it('splits a reply with a gap', async () => {
    rule([{ split: { at: 'middle', gap: 30 } }]);
    const reply = adu(VALUES);
    expect(await ask(await opened(), adu(READ), reply.length)).toBe(hex(reply));
    await expect.poll(() => last()?.report?.steps).toHaveLength(2);
  });

  it('answers a client that sends the same write again and again, whose reply is the same bytes', async () => {
    const write = adu(Uint8Array.of(6, 0, 2, 0x12, 0x67));
    const peer = await opened();
    for (let count = 1; count <= 12; count++) {
      expect(await ask(peer, write, count * write.length)).toHaveLength(3 * count * write.length - 1);
    }
  });

  it('sends half a reply', async () => {
    rule([{ truncate: 4 }]);
    expect(await ask(await opened(), adu(READ), 4)).toBe(hex(adu(VALUES).subarray(0, 4)));
  });
});

type Client = InstanceType<typeof modbusSerial.default>;

describe('modbus-serial as a client', () => {
  const clients: Client[] = [];
  afterEach(async () => {
    for (const each of clients.splice(0)) await new Promise<void>((resolve) => each.close(resolve));
  });

  it.each<[string, (client: Client) => Promise<void>]>([
    ['ascii', (c) => c.connectAsciiSerial(running.path('ascii'), { baudRate: 115200 })],
    ['rtu over tcp', (c) => c.connectTelnet('127.0.0.1', { port: running.port('rtu over tcp') })],
    ['udp', (c) => c.connectUDP('127.0.0.1', { port: running.port('udp') })],
  ])('reads, writes and is refused on the line %s', async (_, connect) => {
    const each = new modbusSerial.default();
    clients.push(each);
    await connect(each);
    await expect.poll(() => each.isOpen).toBe(true);
    each.setTimeout(30_000);
    each.setID(1);
    expect((await each.readHoldingRegisters(0, 2)).data).toEqual([0x0102, 0x0304]);
    await each.writeRegister(2, 4711);
    expect((await each.readHoldingRegisters(2, 1)).data).toEqual([4711]);
    await expect(each.readHoldingRegisters(100, 1)).rejects.toMatchObject({ modbusCode: 2 });
  });
});

describe('Modbus/TCP Security', () => {
  it('logs the role that the certificate gives its client', async () => {
    const peer = await overTls();
    peers.push(peer);
    await expect
      .poll(() => running.log.find(({ role }) => role === 'operator'))
      .toMatchObject({ line: 'tls' });
  });
});

describe('the delimiter of an ASCII line', () => {
  it('is changed by function 8/3 after its own reply, and is a line feed again after a restart', async () => {
    const peer = await serialPeer('ascii');
    peers.push(peer);
    const changed = new AsciiFraming(0x21);
    const usual = new AsciiFraming();
    const request = (framing: Framing, pdu: number[]) =>
      framing.encode({ transactionId: 0, unitId: 1, pdu: Uint8Array.from(pdu) });
    let expected = Buffer.alloc(0);
    const exchange = async (question: Uint8Array, answer: Uint8Array) => {
      expected = Buffer.concat([expected, answer]);
      peer.send(question);
      await expect.poll(() => Buffer.from(peer.received()).toString()).toBe(expected.toString());
    };
    await exchange(request(usual, [8, 0, 3, 0x21, 0]), request(usual, [8, 0, 3, 0x21, 0]));
    await exchange(request(changed, [3, 0, 0, 0, 2]), request(changed, [...VALUES]));
    await exchange(request(changed, [8, 0, 1, 0, 0]), request(changed, [8, 0, 1, 0, 0]));
    await exchange(request(usual, [3, 0, 0, 0, 2]), request(usual, [...VALUES]));
  });

  it('is a line feed again after the line was closed and opened', async () => {
    const framing = new AsciiFraming();
    const request = (pdu: number[]) => framing.encode({ unitId: 1, pdu: Uint8Array.from(pdu) });
    const before = await serialPeer('ascii');
    peers.push(before);
    before.send(request([8, 0, 3, 0x21, 0]));
    await expect.poll(() => before.received().length).toBeGreaterThan(0);
    await running.simulator.lines.get('ascii')?.restart();
    const after = await serialPeer('ascii');
    peers.push(after);
    after.send(request([3, 0, 0, 0, 2]));
    const expected = Buffer.from(request([...VALUES])).toString();
    await expect.poll(() => Buffer.from(after.received()).toString()).toBe(expected);
  });
});
