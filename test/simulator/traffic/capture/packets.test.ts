import { describe, expect, it } from 'vitest';
import { SOCKET } from '../../../../src/modbus/protocol/framing.js';
import { serialRecord } from '../../../../src/simulator/traffic/capture/capture.js';
import {
  enhancedPacket,
  interfaceDescription,
  sectionHeader,
} from '../../../../src/simulator/traffic/capture/packet.js';
import {
  addressOf,
  CapturedConnection,
  CapturedConnections,
  endpointOf,
  tcpPackets,
  udpPacket,
} from '../../../../src/simulator/traffic/capture/socket-packets.js';
import { bytesOf, frameEvent } from '../events.js';

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('the blocks of pcapng', () => {
  it('a section header names the program', () => {
    expect(hexOf(sectionHeader('sim'))).toBe(
      hexOf(
        bytesOf('0a0d0d0a 28000000 4d3c2b1a 0100 0000 ffffffffffffffff 0400 0300 73696d00 00000000 28000000'),
      ),
    );
  });

  it('an interface has its link type, name and description', () => {
    expect(hexOf(interfaceDescription('serial', 'bus', 'RTU'))).toBe(
      hexOf(
        bytesOf(
          '01000000 28000000 fa00 0000 00000000 0200 0300 62757300 0300 0300 52545500 00000000 28000000',
        ),
      ),
    );
  });

  it('a packet has its time in µs, and is filled up to four bytes', () => {
    // 2^32 µs and 1,500 µs.
    const time = 2 ** 32 / 1000 + 1.5;
    expect(hexOf(enhancedPacket(2, time, bytesOf('0102030405')))).toBe(
      hexOf(
        bytesOf('06000000 28000000 02000000 01000000 dc050000 05000000 05000000 0102030405000000 28000000'),
      ),
    );
  });

  it('a comment is UTF-8', () => {
    expect(hexOf(enhancedPacket(0, 0, bytesOf('01020304'), 'µ'))).toContain(
      '01020304' + '01000200c2b50000' + '00000000',
    );
  });
});

describe('the address of a client', () => {
  it.each([
    ['192.168.0.7:40112', 'c0a80007', 40112],
    ['[::1]:502', '00000000000000000000000000000001', 502],
    ['[fe80::1:2%eth0]:502', 'fe800000000000000000000000010002', 502],
    ['[2001:db8:0:1:2:3:4:5]:1', '20010db8000000010002000300040005', 1],
    ['unknown', '00000000', 0],
  ])('%s', (client, address, port) => {
    const endpoint = endpointOf(client);
    expect(hexOf(endpoint.address)).toBe(address);
    expect(endpoint.port || 0).toBe(port);
  });

  it('is 0.0.0.0 for a name', () => {
    expect(hexOf(addressOf('localhost'))).toBe('00000000');
  });
});

it('a datagram has valid checksums', () => {
  const [from, to] = [endpointOf('10.0.0.1:1'), endpointOf('10.0.0.2:2')];
  const packet = Buffer.from(udpPacket(from, to, bytesOf('0103')));
  expect(packet.length).toBe(20 + 8 + 2);
  for (const [start, end, pseudo] of [
    [0, 20, 0],
    [20, 30, 0x0a00 + 0x0001 + 0x0a00 + 0x0002 + 17 + 10],
  ] as const) {
    let sum: number = pseudo;
    for (let at = start; at < end; at += 2) sum += packet.readUInt16BE(at);
    expect((sum & 0xffff) + (sum >>> 16)).toBe(0xffff);
  }
});

it('a serial record has seconds, microseconds and the event before the bytes', () => {
  expect(hexOf(serialRecord('received', 1_700_000_000_123.456, bytesOf('0103')))).toBe(
    '6553f100' + '0001e240' + '02' + '00' + '0000' + '0103',
  );
});

describe('a captured connection', () => {
  const ports = { client: endpointOf('10.0.0.1:1'), server: endpointOf('10.0.0.2:2') };
  /** Source port, sequence number, acknowledgement, flags and length of the payload. */
  const fields = (packet: Uint8Array) => {
    const bytes = Buffer.from(packet);
    return [
      bytes.readUInt16BE(20),
      bytes.readUInt32BE(24),
      bytes.readUInt32BE(28),
      bytes[33],
      bytes.length - 40,
    ];
  };

  it('counts what both sides send from its handshake to its end', () => {
    const connection = new CapturedConnection(ports.client, ports.server, 0);
    const packets = [
      ...connection.open(),
      ...connection.data('client', new Uint8Array(12)),
      ...connection.data('server', new Uint8Array(40_000)),
      ...connection.close('client', 'end'),
      ...connection.close('client', 'end'),
      ...connection.close('server', 'reset'),
      ...connection.close('server', 'end'),
    ];
    expect(packets.map(fields)).toEqual([
      [1, 0, 0, 0x02, 0],
      [2, 0, 1, 0x12, 0],
      [1, 1, 1, 0x10, 0],
      [1, 1, 1, 0x18, 12],
      [2, 1, 13, 0x18, 32_768],
      [2, 32_769, 13, 0x18, 7232],
      [1, 13, 40_001, 0x11, 0],
      [2, 40_001, 14, 0x14, 0],
    ]);
  });

  it('has sequence numbers of its own when a client uses its port again', () => {
    const line = { name: 'lan', kind: 'tcp', describe: () => 'lan', host: '10.0.0.2', port: 502 } as const;
    const connections = new CapturedConnections();
    const sequences = [1, 2, 3].map((clientId) => {
      const opened = connections.of(line, { clientId, client: undefined }, '10.0.0.1:4000').open();
      connections.forget(line, clientId);
      return opened.map((packet) => fields(packet)[1] as number);
    });
    const far = sequences.flatMap(([syn = 0]) => sequences.map(([other = 0]) => Math.abs(syn - other)));
    expect(far.filter((distance) => distance > 2 ** 24)).toHaveLength(6);
    expect(sequences.every(([syn = 0, synAck, ack]) => synAck === syn && ack === (syn + 1) >>> 0)).toBe(true);
  });

  it('begins with a handshake when its client has used the port before, also where a filter leaves its beginning out', () => {
    const line = { name: 'lan', kind: 'tcp', describe: () => 'lan', host: '10.0.0.2', port: 502 } as const;
    const connections = new CapturedConnections();
    const [, second, next] = [1, 2, 2].map((clientId) => {
      const event = frameEvent('03 0000 0001', { framing: SOCKET, clientId, client: '10.0.0.1:4000' });
      return tcpPackets(event, line, connections).map(({ bytes }) => fields(bytes));
    });
    const [syn, synAck, ack, data] = second as number[][];
    const behind = (syn?.[1] ?? 0) + 1;
    expect(syn?.slice(3)).toEqual([0x02, 0]);
    expect(synAck?.slice(2)).toEqual([behind, 0x12, 0]);
    expect(ack?.slice(1)).toEqual([behind, behind, 0x10, 0]);
    expect(data?.slice(1)).toEqual([behind, behind, 0x18, 12]);
    expect(next).toHaveLength(1);
  });
});
