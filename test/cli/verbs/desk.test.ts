import { it } from 'vitest';
import { expectReplaced } from './mortal-desk.js';

it('a desk that dies is replaced, and the lines go on', async () => {
  await expectReplaced('SIGUSR2', 'REST is available again');
});
