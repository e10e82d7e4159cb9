import { afterEach, expect, test, vi } from 'vitest';
import { Access } from '../../../../src/remote/api/access/access.js';
import { RawClient, until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../../support/simulator.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

stopAfterEach();
afterEach(() => vi.restoreAllMocks());

/** Access decides nothing about one path: it fails. */
function failAt(path: string): void {
  const decide = Access.prototype.refusalOfClient;
  vi.spyOn(Access.prototype, 'refusalOfClient').mockImplementation(function (this: Access, request) {
    if (request.url === path) throw new Error('access has failed');
    return decide.call(this, request);
  });
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

test('when access fails, nobody is let in, and the next request is answered', async () => {
  const { rest, log } = await startSimulator(SETUP);
  failAt('/api/v1/lines');
  await rest.app.listen({ port: 0, host: '127.0.0.1' });
  const client = new RawClient((rest.app.server.address() as { port: number }).port);
  client.send(Buffer.from(get('/api/v1/lines') + get('/healthz')));
  await until(() => client.received.includes('HTTP/1.1 200'), 'the next one is answered');
  expect(client.received.toString()).toMatch(/^HTTP\/1\.1 500 .*internal error, see the log/s);
  expect(log.some(({ msg }) => msg === 'request failed')).toBe(true);
  client.socket.destroy();
});

test('when access fails for a request that had to wait for another, it is answered, too', async () => {
  const { rest } = await startSimulator(SETUP);
  failAt('/api/v1/lines');
  await rest.app.listen({ port: 0, host: '127.0.0.1' });
  const client = new RawClient((rest.app.server.address() as { port: number }).port);
  // The end of a body and the request behind it come to the parser together.
  const body = `{${' '.repeat(1500)}}`;
  const post = `POST /api/v1/faults HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  client.send(Buffer.from(`${post}${body}${get('/api/v1/lines')}${get('/healthz')}`));
  await until(() => client.closed || client.received.includes('HTTP/1.1 200'), 'the last one is answered');
  const statuses = [...client.received.toString().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  expect(statuses).toEqual(['400', '500', '200']);
  client.socket.destroy();
});
