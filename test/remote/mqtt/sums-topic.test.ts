import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { MqttLink } from '../../../src/remote/mqtt/link.js';
import { deskOf } from './desk-of.js';

/** The acceptance of a connection in MQTT 5, without properties (3.2). */
const ACCEPTED = Buffer.from([0x20, 3, 0, 0, 0]);

/** A broker that accepts a connection and keeps what comes. @returns its address, and what has come */
async function listeningBroker() {
  let heard = Buffer.alloc(0);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(ACCEPTED));
    socket.on('data', (data) => {
      heard = Buffer.concat([heard, data]);
    });
    onTestFinished(() => void socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return { url: `mqtt://127.0.0.1:${port}`, heard: () => heard.toString('latin1') };
}

it('a broker gets what passed each line under the topic sums', { timeout: 120_000 }, async () => {
  const { url, heard } = await listeningBroker();
  const { desk, log, simulator, configuration } = await deskOf({
    devices: { meter: { registers: { holding: [{ address: 0 }] } } },
    lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    mqtt: { url, topic: 'bench', qos: 0 },
  });
  if (!configuration.mqtt) throw new Error('no broker is configured');
  const link = new MqttLink(
    desk,
    { definition: configuration.mqtt, credentials: undefined, rest: [] } as never,
    log,
    [],
  );
  onTestFinished(() => link.stop());
  const passed = {
    kind: 'broadcast',
    at: performance.now(),
    bytes: new Uint8Array(8),
    unitId: 0,
    functionCode: 6,
  };
  simulator.lines.get('lan')?.sums.count(passed as never, 1);
  // Reports come every five seconds; the first with the broadcast is the first or the second.
  const lan = /bench\/sums[^{]*(\{"lines":\[\{"line":"lan",[^\]]*\]\})/;
  await expect.poll(() => lan.exec(heard())?.[1], { timeout: 90_000, interval: 200 }).toBeDefined();
  const { lines } = JSON.parse(lan.exec(heard())?.[1] ?? '');
  expect(lines).toMatchObject([{ line: 'lan', requests: 1, bytesIn: 8, good: 0, speakingMs: 8 }]);
});
