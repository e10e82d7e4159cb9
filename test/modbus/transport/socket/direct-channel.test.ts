import { once } from 'node:events';
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { seededRandom } from '../../../../src/common/random.js';
import { concatBytes } from '../../../../src/modbus/protocol/bytes.js';
import {
  type Channel,
  DirectChannel,
  StreamChannel,
} from '../../../../src/modbus/transport/socket/channel.js';
import { TcpWriter } from '../../../../src/modbus/transport/socket/tcp-writer.js';
import { RawClient, until } from './raw-client.js';

const ended: (() => void)[] = [];

afterEach(() => {
  for (const end of ended.splice(0)) end();
});

interface Pair {
  readonly channel: Channel;
  readonly client: RawClient;
  readonly server: ReturnType<typeof createServer>;
}

/** A connection as a line accepts it, and its client. */
async function connected(channelOf: (accepted: Socket) => Channel): Promise<Pair> {
  const server = createServer({ allowHalfOpen: true, noDelay: true });
  const accepted = new Promise<Channel>((resolve) => {
    server.once('connection', (socket) => resolve(channelOf(socket)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new RawClient((server.address() as AddressInfo).port);
  const channel = await accepted;
  channel.socket.on('error', () => {});
  ended.push(() => {
    client.socket.destroy();
    channel.socket.destroy();
    server.close();
  });
  return { channel, client, server };
}

const direct = (accepted: Socket) =>
  DirectChannel.of(accepted) ?? expect.fail('this Node has no handle as DirectChannel expects it');

const CHANNELS = [
  { name: 'direct', channelOf: direct },
  { name: 'stream', channelOf: (accepted: Socket) => new StreamChannel(accepted) },
];

/** The descriptor of a socket, as DirectChannel finds it. */
const descriptorOf = (socket: Socket) => (socket as unknown as { _handle: { fd: number } })._handle.fd;

test('this Node has the handle that a direct channel needs, and its descriptor is a socket', async () => {
  const { channel } = await connected(direct);
  expect(fstatSync(descriptorOf(channel.socket)).isSocket()).toBe(true);
});

test('a connection without such a handle gets no direct channel', () => {
  expect(DirectChannel.of(new Socket())).toBeUndefined();
  expect(DirectChannel.of({ _handle: {} } as unknown as Socket)).toBeUndefined();
  expect(DirectChannel.of({ _handle: { fd: -1 } } as unknown as Socket)).toBeUndefined();
  expect(DirectChannel.of({} as unknown as Socket)).toBeUndefined();
});

test.each(CHANNELS)('$name: hears all bytes that a client sends, in order', async ({ channelOf }) => {
  const { channel, client } = await connected(channelOf);
  const heard: Uint8Array[] = [];
  channel.read((bytes, length) => heard.push(bytes.slice(0, length)));
  const sent = Uint8Array.from({ length: 300_000 }, (_, i) => i % 251);
  client.send(sent);
  await until(() => heard.reduce((sum, { length }) => sum + length, 0) === sent.length, 'all is heard');
  expect(Buffer.compare(concatBytes(...heard), sent)).toBe(0);
});

test.each(CHANNELS)('$name: reads no more while paused, and goes on after it', async ({ channelOf }) => {
  const { channel, client } = await connected(channelOf);
  let heard = 0;
  channel.read((_, length) => {
    heard += length;
  });
  client.send(Uint8Array.of(1));
  await until(() => heard === 1, 'the first byte is heard');
  channel.socket.pause();
  client.send(new Uint8Array(1000));
  await sleep(50);
  expect(heard).toBe(1);
  channel.socket.resume();
  await until(() => heard === 1001, 'the rest is heard');
});

test.each(CHANNELS)('$name: tells that the client has closed its sending side', async ({ channelOf }) => {
  const { channel, client } = await connected(channelOf);
  channel.read(() => {});
  const told = once(channel.socket, 'end');
  client.socket.end();
  await told;
  expect(channel.socket.writable).toBe(true);
});

test('the server is closed when the connections of its channels are', async () => {
  const { channel, server } = await connected(direct);
  let closed = false;
  server.close(() => {
    closed = true;
  });
  await sleep(20);
  expect(closed).toBe(false);
  channel.socket.destroy();
  await until(() => closed, 'the server is closed');
});

test('two channels read into the same memory, and neither hears the bytes of the other', async () => {
  const pairs = await Promise.all([connected(direct), connected(direct)]);
  const heard = pairs.map(({ channel }) => {
    let text = '';
    channel.read((bytes, length) => {
      text += Buffer.from(bytes.subarray(0, length)).toString('latin1');
    });
    return () => text;
  });
  for (let i = 0; i < 200; i++) {
    for (const [of, { client }] of pairs.entries()) client.send(Buffer.from('ab'.charAt(of)));
  }
  await until(() => heard.every((text) => text().length === 200), 'all is heard');
  expect(heard.map((text) => text())).toEqual(['a'.repeat(200), 'b'.repeat(200)]);
});

test('writes at once, without the stream', async () => {
  const { channel, client } = await connected(direct);
  expect(channel.writeNow(Uint8Array.of(1, 2, 3, 4), 3)).toBe(3);
  expect(channel.socket.writableLength).toBe(0);
  await until(() => client.received.length === 3, 'received');
  expect([...client.received]).toEqual([1, 2, 3]);
});

test('writes a part of what does not fit, and nothing while the client does not read', async () => {
  const { channel, client } = await connected(direct);
  client.socket.pause();
  const huge = new Uint8Array(32 * 1024 * 1024);
  const written = channel.writeNow(huge, huge.length);
  expect(written).toBeGreaterThan(0);
  expect(written).toBeLessThan(huge.length);
  // The system moves bytes on to the client's side for a while, and has room again.
  await expect
    .poll(() => {
      while (channel.writeNow(huge, huge.length) > 0);
      return channel.writeNow(huge, 10);
    })
    .toBe(0);
  expect(channel.socket.destroyed).toBe(false);
});

test('writes nothing to a connection that was reset, and leaves it to the stream to tell', async () => {
  const { channel, client } = await connected(direct);
  // A connection that is not read does not notice by itself.
  channel.socket.pause();
  client.socket.resetAndDestroy();
  await until(() => client.closed, 'reset');
  await until(() => channel.writeNow(Uint8Array.of(1), 1) === 0, 'nothing is written');
  expect(channel.socket.destroyed).toBe(false);
  const told = once(channel.socket, 'error');
  channel.socket.write('x');
  expect((await told)[0]).toMatchObject({ syscall: 'write' });
});

test('writes nothing to a descriptor that something else has by now', async () => {
  const { channel } = await connected(direct);
  const descriptor = descriptorOf(channel.socket);
  const closed = once(channel.socket, 'close');
  channel.socket.destroy();
  expect(channel.writeNow(Uint8Array.of(1), 1)).toBe(0);
  await closed;
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-test-'));
  // The system gives the lowest number that is free.
  const opened = Array.from({ length: 20 }, (_, i) => openSync(join(directory, String(i)), 'w'));
  ended.push(() => {
    for (const each of opened) closeSync(each);
    rmSync(directory, { recursive: true });
  });
  expect(opened).toContain(descriptor);
  expect(channel.writeNow(Uint8Array.of(1), 1)).toBe(0);
  expect(fstatSync(descriptor).size).toBe(0);
});

/** The bytes 0 to 255 over and over. */
const COUNTING = Uint8Array.from({ length: 400_256 }, (_, at) => at);

test.each(CHANNELS)(
  '$name: a writer sends the same bytes to a client that reads by fits and starts',
  async ({ channelOf }) => {
    const { channel, client } = await connected(channelOf);
    const received: Buffer[] = [];
    client.socket.removeAllListeners('data').on('data', (chunk: Buffer) => received.push(chunk));
    const writer = new TcpWriter(channel, channel.socket, () => {});
    const random = seededRandom(1, 1);
    const sent: Uint8Array[] = [];
    let told = 0;
    for (let i = 0; i < 400; i++) {
      if (i % 50 === 0) client.socket.pause();
      if (i % 50 === 25) client.socket.resume();
      const length = [5, 29, 64, 65, 260, 70_000, 400_000][Math.floor(random.next() * 7)] as number;
      const bytes = COUNTING.subarray(i & 0xff, (i & 0xff) + length);
      sent.push(bytes);
      if (random.next() < 0.5) writer.hold();
      writer.play({ kind: 'bytes', waitMs: 0, bytes, continues: false });
      writer.complete({ steps: [], ended: 'complete' }, () => told++);
      if (random.next() < 0.5) writer.release();
      if (random.next() < 0.3) await sleep(1);
    }
    writer.release();
    client.socket.resume();
    const expected = concatBytes(...sent);
    await until(
      () => received.reduce((sum, { length }) => sum + length, 0) >= expected.length,
      'all has come',
    );
    expect(Buffer.compare(Buffer.concat(received), expected)).toBe(0);
    await until(() => told === 400, 'every reply is told');
    expect(writer.unsent).toBe(0);
  },
);
