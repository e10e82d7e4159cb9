import { expect, test } from 'vitest';
import { until } from '../../../modbus/transport/socket/raw-client.js';
import { stopAfterEach } from '../../../support/simulator.js';
import { blockTypes, EVENTS, INTERFACE, PACKET, SECTION_HEADER, startCapture } from './live-capture.js';

stopAfterEach();

test('a reader that does not read is told what it has missed, and keeps no memory', async () => {
  const { ask, follow, sockets } = await startCapture();
  const { answer, body } = await follow('&line=lan');
  await ask();
  await until(() => blockTypes(body()).length >= 4, 'the capture has begun');
  const endless = await Promise.all([follow(), follow()]);
  for (const each of [answer, ...endless.map((reader) => reader.answer)]) each.pause();
  // Far more than the buffers of the operating system take.
  for (let i = 0; i < 24; i++) await ask(EVENTS);
  for (const { writableLength } of sockets) expect(writableLength).toBeLessThan(256 * 1024);
  answer.resume();
  await until(() => body().includes('before this one'), 'the reader is told');
  expect(blockTypes(body()).slice(0, 3)).toEqual([SECTION_HEADER, INTERFACE, PACKET]);
  for (const each of [answer, ...endless.map((reader) => reader.answer)]) each.destroy();
});
