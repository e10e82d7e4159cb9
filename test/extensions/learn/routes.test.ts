import { expect, it } from 'vitest';
import { askedHere } from '../../../src/common/work.js';
import { loadNative } from '../../../src/document/load.js';
import { learning } from '../../../src/extensions/learn/learn.js';
import { newClient } from '../../../src/modbus/client/client.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

/* Devices made of the traffic, over REST. */

stopAfterEach();

it('makes devices learned from the traffic of a line, and says why it can not', async () => {
  const { rest, port } = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 3, value: [7, 8] }] } } },
      lines: {
        lan: { tcp: { port: 0 }, units: { 5: 'meter' } },
        wan: { tcp: { port: 0 }, units: { 5: 'meter' } },
      },
    }),
  );
  const client = newClient({ kind: 'tcp', host: '127.0.0.1', port: port('lan'), framing: 'socket' });
  await client.ask({ unitId: 5, pdu: Uint8Array.of(3, 0, 3, 0, 2), timeout: 20_000 });
  await client.ask({ unitId: 5, pdu: Uint8Array.of(3, 0, 9, 0, 1), timeout: 20_000 });
  await client.close();
  const answer = await rest.app.inject({
    url: '/api/v1/learned.yaml?line=lan',
    headers: { host: 'localhost' },
  });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toContain('application/yaml');
  expect(answer.body).toContain('value: [7, 8]');
  expect(answer.body).toContain('answered with exception 02: holding 9');
  expect(loadNative(answer.body, '.').ok).toBe(true);
  expect(await rest.send('GET', '/api/v1/learned.yaml?line=wan')).toMatchObject({
    status: 409,
    body: { code: 'traffic.unusable' },
  });
  expect(await rest.send('GET', '/api/v1/learned.yaml?line=none')).toMatchObject({ status: 400 });
});

it('plays the traffic as it was if wanted, once or again and again', async () => {
  const { rest, port } = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 3, value: 7 }] } } },
      lines: { lan: { tcp: { port: 0 }, units: { 5: 'meter' } } },
    }),
  );
  const client = newClient({ kind: 'tcp', host: '127.0.0.1', port: port('lan'), framing: 'socket' });
  const read = () => client.ask({ unitId: 5, pdu: Uint8Array.of(3, 0, 3, 0, 1), timeout: 20_000 });
  await read();
  await rest.send('PATCH', '/api/v1/devices/meter/registers', {
    changes: [{ table: 'holding', address: 3, value: 9 }],
  });
  await read();
  await client.close();
  const get = async (how: string) => {
    const url = `/api/v1/learned.yaml${how}`;
    const { statusCode, body } = await rest.app.inject({ url, headers: { host: 'localhost' } });
    expect(statusCode).toBe(200);
    expect(loadNative(body, '.').ok).toBe(true);
    return body;
  };
  const once = await get('?recorded=once');
  expect(once).toContain('# Plays ');
  expect(once).toMatch(/signal: \{recorded: \{values: "0 7, [\d.]+ 9, [\d.]+"\}\}/);
  expect(await get('?recorded=loop')).toMatch(/recorded: \{values: "0 7, [^"]*", loop: true\}/);
  expect(await get('')).not.toContain('recorded');
  expect(await rest.send('GET', '/api/v1/learned.yaml?recorded=twice')).toMatchObject({
    status: 400,
    body: { error: 'recorded: expected once or loop, got "twice"' },
  });
});

it('is made for one at a time', async () => {
  const { rest } = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 3, value: 7 }] } } },
      lines: { lan: { tcp: { port: 0 }, units: { 5: 'meter' } } },
    }),
  );
  const get = () => rest.send('GET', '/api/v1/learned.yaml');
  const both = await Promise.all([get(), get()]);
  expect(both).toMatchObject([{ status: 409 }, { status: 503, body: { code: 'readers.too_many' } }]);
  expect(await get()).toMatchObject({ status: 409 });
});

it('is not made of more traffic than there is memory for', async () => {
  const { ask } = askedHere(learning());
  await ask({ kind: 'next' });
  const piece = new Uint8Array(1024 * 1024);
  for (let i = 0; i < 16; i++) expect(await ask({ kind: 'capture', piece })).toEqual({ kind: 'more' });
  expect(await ask({ kind: 'capture', piece })).toMatchObject({
    kind: 'unusable',
    message: expect.stringContaining('bytes of traffic'),
  });
});
