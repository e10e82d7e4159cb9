import { afterAll, beforeAll, describe } from 'vitest';
import { startAround } from './around.js';
import { debianTree } from './packages.js';
import { describeAt, type Made } from './trials.js';
import { oneOfEach } from './verbs.js';

describe('the Debian package, unpacked', () => {
  let made: Made;
  beforeAll(async () => {
    const around = await startAround();
    made = { around, shipped: debianTree(around.directory) };
  });
  afterAll(() => made?.around.stop());

  describeAt('localhost', oneOfEach(true), () => made);
});
