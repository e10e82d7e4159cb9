import { expect, it } from 'vitest';
import { nativeSetup, Rest } from '../rest.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: 7 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter', '*': 'meter' } } },
});

it('GET /api/v1/lines tells the units of each line and what has passed over it', async () => {
  const rest = new Rest(SETUP);
  const { status, body } = await rest.send('GET', '/api/v1/lines');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    lines: [{ name: 'lan', units: { 1: 'meter', '*': 'meter' }, counters: { requests: 0, collisions: 0 } }],
  });
});
