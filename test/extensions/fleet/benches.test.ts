import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Fleet } from '../../../src/extensions/fleet/benches.js';

const CONNECT = 1;
const SUBSCRIBE = 8;
/** Answers of MQTT 5 without properties. */
const CONNACK = Buffer.from([0x20, 3, 0, 0, 0]);

function retained(topic: string, content: object): Buffer {
  const body = Buffer.concat([
    Buffer.from([0, topic.length]),
    Buffer.from(topic),
    Buffer.from([0]),
    Buffer.from(JSON.stringify(content)),
  ]);
  return Buffer.concat([Buffer.from([0x31, body.length]), body]);
}

it('the benches on a slow broker are waited for', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const kind = (bytes[0] ?? 0) >> 4;
      if (kind === CONNECT) socket.write(CONNACK);
      if (kind !== SUBSCRIBE) return;
      const suback = Buffer.from([0x90, 5, bytes[2] ?? 0, bytes[3] ?? 0, 0, 1, 1]);
      const states = ['a', 'b'].map((name) => retained(`modbus-sim/${name}/state`, { state: 'online' }));
      setTimeout(() => socket.write(Buffer.concat([suback, ...states])), 700);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const found = await Fleet.find({ url: `mqtt://127.0.0.1:${port}`, qos: 1 }, 'modbus-sim/+/state');
  if (!found.ok) throw new Error(found.error);
  expect(found.value.select({ labels: new Map() }).map(({ topic }) => topic)).toEqual([
    'modbus-sim/a',
    'modbus-sim/b',
  ]);
  await found.value.end();
});
