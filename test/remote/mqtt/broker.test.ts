import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Broker } from '../../../src/remote/mqtt/broker.js';

const CONNECT = 1;

/** A broker of a few bytes: `answer` gets the level of the protocol (4 is MQTT 3.1.1, 5 is MQTT 5) of each connection. */
async function fakeBroker(answer: (level: number, socket: Socket, connect: Buffer) => void) {
  const levels: number[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if ((data[0] as number) >> 4 !== CONNECT) return;
      const level = data[8] as number;
      levels.push(level);
      answer(level, socket, data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { levels, sockets, url: `mqtt://127.0.0.1:${port}` };
}

function brokerAt(url: string, client?: string) {
  const lines: string[] = [];
  const broker = new Broker(
    { url, qos: 1, ...(client && { client }) },
    {
      will: () => ({ topic: 't/state', payload: 'offline', retain: true }),
      connected: () => {},
      arrived: () => {},
      log: (kind, text) => lines.push(`${kind}: ${text.replace(/:\d+/g, ':PORT')}`),
    },
  );
  onTestFinished(() => broker.end({ topic: 't/state', payload: 'gone' }));
  return { broker, lines };
}

const ACCEPTED = Buffer.from([0x20, 2, 0, 0]);
/** The CONNACK for a level of the protocol: one of MQTT 5 has properties. */
const accepted = (level: number) => (level === 5 ? Buffer.from([0x20, 3, 0, 0, 0]) : ACCEPTED);

/** A message as a broker sends it, with topic `t` and no properties. */
function publishPacket(level: number, qos: 0 | 2, id: number, payload: Buffer): Buffer {
  const variable = [0, 1, 0x74, ...(qos === 2 ? [id >> 8, id & 0xff] : []), ...(level === 5 ? [0] : [])];
  let left = variable.length + payload.length;
  const length: number[] = [];
  for (; left >= 0x80; left = Math.floor(left / 0x80)) length.push(0x80 | (left % 0x80));
  return Buffer.concat([Buffer.from([0x30 | (qos << 1), ...length, left, ...variable]), payload]);
}

/** Sends as long as the connection takes it. @returns how many bytes the other side has taken at most */
async function flood(socket: Socket, chunks: Iterable<Buffer>): Promise<number> {
  for (const chunk of chunks) {
    if (socket.destroyed) break;
    if (!socket.write(chunk))
      await new Promise<void>((resolve) => {
        socket.once('drain', resolve).once('close', resolve);
      });
  }
  return socket.bytesWritten;
}

describe('the connection to a broker', () => {
  it.each([
    ['says so', (socket: Socket) => socket.end(Buffer.from([0x20, 2, 0, 1]))],
    ['closes the connection without a word', (socket: Socket) => socket.destroy()],
  ])('goes back to MQTT 3.1.1 where the broker does not know MQTT 5 and %s', async (_, refuse) => {
    const { url, levels } = await fakeBroker((level, socket) =>
      level === 4 ? socket.write(ACCEPTED) : refuse(socket),
    );
    const { broker, lines } = brokerAt(url);
    await expect.poll(() => broker.status.connected).toBe(true);
    expect([...new Set(levels)]).toEqual([5, 4]);
    expect(lines.at(-1)).toBe('connected: connected to the broker 127.0.0.1:PORT (MQTT 3.1.1)');
  });

  it('says by MQTT 5 how long a packet may be, and how many messages may wait for their acknowledgement', async () => {
    const connects: Buffer[] = [];
    const { url } = await fakeBroker((level, socket, connect) => {
      connects.push(connect);
      socket.write(accepted(level));
    });
    const { broker } = brokerAt(url);
    await expect.poll(() => broker.status.connected).toBe(true);
    const [connect = Buffer.alloc(0)] = connects;
    // Maximum Packet Size (MQTT 5, 3.1.2.11.4) and Receive Maximum (3.1.2.11.3), in any order.
    expect(connect.includes(Buffer.from([0x27, 0, 0x20, 0, 0]))).toBe(true);
    expect(connect.includes(Buffer.from([0x21, 0, 64]))).toBe(true);
  });

  it('says once that the broker is away, and once that it is back', async () => {
    const { url, sockets } = await fakeBroker((level, socket) => {
      if (level === 4) socket.write(ACCEPTED);
      else socket.destroy();
    });
    const { broker, lines } = brokerAt(url);
    await expect.poll(() => broker.status.connected).toBe(true);
    lines.length = 0;
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => lines.length).toBe(2);
    expect(lines).toEqual([
      'lost: no connection to the broker 127.0.0.1:PORT: the connection was closed',
      'connected: connected to the broker 127.0.0.1:PORT (MQTT 3.1.1)',
    ]);
  });

  it('keeps what waits bounded when the broker acknowledges nothing', async () => {
    const { url } = await fakeBroker((level, socket) => {
      if (level === 4) socket.write(ACCEPTED);
      else socket.destroy();
    });
    const { broker } = brokerAt(url);
    await expect.poll(() => broker.status.connected).toBe(true);
    for (let i = 0; i < 50_000; i++) broker.publish({ topic: 'e', payload: `${i}` });
    expect(broker.status.waiting).toBe(20_000);
    expect(broker.status.lost).toBe(50_000 - 20_000 - 32);
  });

  it.each([4, 5])(
    'ends a connection on which a packet is too long, before the rest of it is kept (level %i)',
    async (wanted) => {
      const sent: Promise<number>[] = [];
      const { url } = await fakeBroker((level, socket) => {
        if (level !== wanted) {
          socket.destroy();
          return;
        }
        socket.write(accepted(level));
        const chunks = function* () {
          // A hundred MiB are announced, and come.
          yield Buffer.from([0x30, 0x80, 0x80, 0x80, 0x32]);
          for (let i = 0; i < 1600; i++) yield Buffer.alloc(65_536);
        };
        sent.push(flood(socket, chunks()));
      });
      const { broker, lines } = brokerAt(url);
      await expect
        .poll(() => lines.find((line) => line.includes('packet')))
        .toBe(
          'lost: no connection to the broker 127.0.0.1:PORT: the broker sent a packet of 104857600 bytes, expected at most 2097152',
        );
      // What is in the buffers of the system is sent, too.
      expect(await sent[0]).toBeLessThan(20 * 2 ** 20);
      expect(broker.status.received).toBe(0);
    },
  );

  it.each([4, 5])('ends a connection on which messages are not released (level %i)', async (wanted) => {
    const { url } = await fakeBroker((level, socket) => {
      if (level !== wanted) {
        socket.destroy();
        return;
      }
      socket.write(accepted(level));
      const payload = Buffer.alloc(2 ** 20);
      void flood(
        socket,
        (function* () {
          for (let id = 1; id < 500; id++) yield publishPacket(level, 2, id, payload);
        })(),
      );
    });
    const { lines } = brokerAt(url);
    await expect
      .poll(() => lines.find((line) => line.includes('QoS 2')))
      .toContain('the broker has not released 17 QoS 2 messages');
  });

  it('goes slower where another client has its identifier, says so, and falls silent', async () => {
    const times: number[] = [];
    const { url, levels } = await fakeBroker((level, socket) => {
      times.push(performance.now());
      // DISCONNECT with "Session taken over" (MQTT 5, 3.14.2.1).
      socket.end(Buffer.concat([accepted(level), Buffer.from([0xe0, 2, 0x8e, 0])]));
    });
    const { lines } = brokerAt(url, 'bench');
    await expect.poll(() => levels.length).toBeGreaterThanOrEqual(5);
    await expect.poll(() => lines.length).toBe(6);
    const lost =
      'lost: no connection to the broker 127.0.0.1:PORT: another client has the client identifier bench: each client needs its own';
    const connected = 'connected: connected to the broker 127.0.0.1:PORT (MQTT 5)';
    expect(lines).toEqual([
      ...[connected, lost, connected, lost, connected],
      `${lost}; it connects and disconnects repeatedly, which is not reported again until a connection lasts 60 s`,
    ]);
    expect((times[4] ?? 0) - (times[3] ?? 0)).toBeGreaterThan(900);
  });

  it.each([
    ['closes', (socket: Socket) => socket.end()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ])(
    'supposes that another client has its identifier where a broker of 3.1.1 %s the connection',
    async (_, end) => {
      const { url } = await fakeBroker((level, socket) => {
        if (level === 4) {
          socket.write(ACCEPTED);
          setTimeout(() => end(socket), 200);
        } else end(socket);
      });
      const { lines } = brokerAt(url, 'bench');
      await expect
        .poll(() => lines.at(-1))
        .toContain(
          'the connection was closed; perhaps another client has the client identifier bench: each client needs its own',
        );
    },
  );

  it('sends again what was not acknowledged when the broker broke the protocol', async () => {
    let connections = 0;
    const published: string[] = [];
    const { url } = await fakeBroker((level, socket) => {
      if (level === 5) {
        socket.end(Buffer.from([0x20, 2, 0, 1]));
        return;
      }
      const isFirst = connections++ === 0;
      socket.write(ACCEPTED);
      socket.on('data', (data) => {
        const text = data.toString('latin1');
        if (!text.includes('news')) return;
        published.push(text.includes('kept') ? 'kept' : '');
        // A second CONNACK is an error in the protocol (MQTT 3.1.1, 3.2).
        if (isFirst) socket.write(ACCEPTED);
      });
    });
    const { broker } = brokerAt(url);
    await expect.poll(() => broker.status.connected).toBe(true);
    broker.publish({ topic: 'news', payload: 'kept' });
    await expect.poll(() => published).toEqual(['kept', 'kept']);
    expect(broker.status.lost).toBe(0);
  });

  it('does not call a subscription refused whose connection ended before the answer', async () => {
    const { url, sockets } = await fakeBroker((level, socket) => {
      socket.write(accepted(level));
      socket.on('data', () => socket.destroy());
    });
    const { broker, lines } = brokerAt(url);
    await expect.poll(() => broker.status.connected).toBe(true);
    broker.subscribe(['t/command/+']);
    await expect.poll(() => sockets.size).toBeGreaterThan(1);
    expect(lines.join()).toContain('lost: no connection to the broker');
    expect(lines.join()).not.toContain('refused');
  });

  it('counts what the broker refuses, and says so once', async () => {
    const { url } = await fakeBroker((level, socket) => {
      socket.write(accepted(level));
      // PUBACK with "Not authorized" to whatever has an identifier (MQTT 5, 3.4.2.1).
      socket.on('data', (data) => {
        for (let at = 0; at < data.length; at += 2 + (data[at + 1] ?? 0)) {
          if ((data[at] ?? 0) >> 4 !== 3) continue;
          const id = at + 4 + data.readUInt16BE(at + 2);
          socket.write(Buffer.from([0x40, 3, data[id] ?? 0, data[id + 1] ?? 0, 0x87]));
        }
      });
    });
    const { broker, lines } = brokerAt(url);
    await expect.poll(() => broker.status.connected).toBe(true);
    for (const payload of ['1', '2']) broker.publish({ topic: 'values/a', payload, retain: true });
    broker.publish({ topic: 'e', payload: 'x' });
    await expect.poll(() => broker.status.lost).toBeGreaterThan(0);
    await expect.poll(() => broker.status.waiting).toBe(0);
    expect(lines.filter((line) => line.includes('refused a message on values/a'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('refused'))).toHaveLength(1);
  });

  it('gives the reason why there is none', async () => {
    const { broker, lines } = brokerAt('mqtt://127.0.0.1:1');
    await expect.poll(() => broker.status.reason).toContain('ECONNREFUSED');
    expect(lines).toHaveLength(1);
  });
});
