import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { startAround } from './around.js';
import { windowsZip } from './packages.js';
import { describeAt, type Made } from './trials.js';
import { oneOfEach } from './verbs.js';

/* Run by the Node of this machine: its packages with machine code are for Windows, so there is no serial line. */
describe('the ZIP file for Windows, unpacked', () => {
  let made: Made;
  beforeAll(async () => {
    const around = await startAround();
    made = { around, shipped: windowsZip(join(around.directory, 'windows')) };
  });
  afterAll(() => made?.around.stop());

  describeAt('localhost', oneOfEach(false), () => made);
});
