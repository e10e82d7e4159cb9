import { expect, it } from 'vitest';
import { statusText } from '../../../src/cli/service/service.js';

const at = (state: 'open' | 'waiting' | 'stopped' | 'failed', endpoint: string) => ({ state, endpoint });

it.each([
  ['1 line open', [at('open', '/dev/ttyUSB0')]],
  [
    '3 lines open, 1 waiting for /dev/ttyUSB0',
    [at('open', 'a'), at('waiting', '/dev/ttyUSB0'), at('open', 'b'), at('open', 'c')],
  ],
  [
    '0 lines open, 2 waiting for a, b, 1 failed on 0.0.0.0:502, 1 stopped',
    [at('waiting', 'a'), at('waiting', 'b'), at('failed', '0.0.0.0:502'), at('stopped', 'c')],
  ],
  ['0 lines open', []],
] as const)('a service says: %s', (text, lines) => {
  expect(statusText(lines)).toBe(text);
});
