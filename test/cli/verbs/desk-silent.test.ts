import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { expectReplaced, isServed, startWithMortalDesk } from './mortal-desk.js';

it('a desk that is silent is replaced, and the lines go on', () =>
  expectReplaced('SIGWINCH', 'the thread of REST is silent and is replaced'));

it('the desk of a program that was stopped for a while is not replaced', async () => {
  const program = await startWithMortalDesk();
  // Longer than the desk may be silent here, which is 3 s.
  process.kill(program.pid, 'SIGSTOP');
  await delay(4000);
  process.kill(program.pid, 'SIGCONT');
  await delay(1500);
  expect(await isServed(program)).toBe(true);
  expect(await program.stop()).toBe(0);
  expect(program.output.stdout + program.output.stderr).not.toContain('replaced');
});
