import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { describeWithPeer } from '../peers/peer.js';

/** Where Debian, and others who follow it, have Chromium. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const executablePath = PLACES.find((path) => existsSync(path));
let running: Browser | undefined;

/** Tests in a real browser: where there is none they are skipped, with the reason. In CI that is a failure. */
export function describeInBrowser(name: string, tests: () => void): void {
  const missing = executablePath === undefined ? 'Chromium is missing: apt-get install chromium' : undefined;
  describeWithPeer(name, missing, () => {
    beforeAll(async () => {
      running = await chromium.launch({ executablePath: executablePath as string, args: ARGUMENTS });
    });
    afterAll(() => running?.close());
    tests();
  });
}

/** The browser of the tests that are running. */
export function browser(): Browser {
  if (!running) throw new Error('only tests of describeInBrowser have a browser');
  return running;
}
