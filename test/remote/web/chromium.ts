import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { describeWithPeer } from '../../peers/peer.js';
import { CHROMIUM_ARGUMENTS, CHROMIUM_MISSING, chromiumPath } from '../../support/chromium.mjs';

let running: Browser | undefined;

/** Tests in a real browser: where there is none they are skipped, with the reason. In CI that is a failure. */
export function describeInBrowser(name: string, tests: () => void): void {
  const missing = chromiumPath === undefined ? CHROMIUM_MISSING : undefined;
  describeWithPeer(name, missing, () => {
    beforeAll(async () => {
      running = await chromium.launch({ executablePath: chromiumPath as string, args: CHROMIUM_ARGUMENTS });
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
