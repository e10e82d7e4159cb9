import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Broker } from '../../src/mqtt/broker.js';

const CONNECT = 1;

/** A broker of a few bytes: `answer` gets the level of the protocol (4 is MQTT 3.1.1, 5 is MQTT 5) of each connection. */
async function fakeBroker(answer: (level: number, socket: Socket) => void) {
  const levels: number[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if ((data[0] as number) >> 4 !== CONNECT) return;
      const level = data[8] as number;
      levels.push(level);
      answer(level, socket);
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

function brokerAt(url: string) {
  const lines: string[] = [];
  const broker = new Broker(
    { url, qos: 1 },
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
    expect(lines.at(-1)).toBe('connected: on the broker 127.0.0.1:PORT by MQTT 3.1.1');
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
      'lost: without the broker 127.0.0.1:PORT: the connection was closed',
      'connected: on the broker 127.0.0.1:PORT by MQTT 3.1.1',
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

  it('gives the reason why there is none', async () => {
    const { broker, lines } = brokerAt('mqtt://127.0.0.1:1');
    await expect.poll(() => broker.status.reason).toContain('ECONNREFUSED');
    expect(lines).toHaveLength(1);
  });
});
