/**
 * Makes the answers of REST that never differ. The build runs this file in the directory where it was
 * compiled (`scripts/ready.mjs`), so that the program need not make them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { pino } from 'pino';
import { newLocalSimulator } from './cli/library/local-simulator.js';
import { loadConfiguration } from './document/load.js';
import { AT_DESK } from './extensions/at-desk.js';
import { MADE_AT_BUILD, MADE_DIRECTORY } from './remote/api/made.js';

async function make(): Promise<void> {
  const loaded = loadConfiguration({ kind: 'demo' });
  if (!loaded.ok) throw new Error('the demo configuration is invalid');
  const log = pino({ level: 'silent' });
  const { app } = newLocalSimulator(loaded.configuration, loaded.configuration.api, log, AT_DESK);
  mkdirSync(MADE_DIRECTORY, { recursive: true });
  for (const [file, path] of Object.entries(MADE_AT_BUILD)) {
    const { statusCode, body } = await app.inject({ url: `/api/v1${path}`, headers: { host: 'localhost' } });
    if (statusCode !== 200) throw new Error(`${path}: ${body}`);
    writeFileSync(new URL(file, MADE_DIRECTORY), body);
  }
  await app.close();
}

void make();
