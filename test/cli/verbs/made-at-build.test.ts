import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MADE_AT_BUILD } from '../../../src/remote/api/made.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

stopAfterEach();

it.each(Object.entries(MADE_AT_BUILD))('%s is what the program would make itself', async (file, path) => {
  const { rest } = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0 }] } } },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    }),
  );
  const built = JSON.parse(readFileSync(`dist/remote/api/openapi/made/${file}`, 'utf8'));
  const { status, body } = await rest.send('GET', `/api/v1${path}`);
  expect({ status, body }).toEqual({ status: 200, body: built });
});
