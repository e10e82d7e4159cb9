import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { until } from '../../modbus/transport/socket/raw-client.js';
import type { RunningProgram } from '../../support/program.mjs';
import { compute, expectReplaced, isServed, RestClients, startWithMortalDesk } from './mortal-desk.js';

it('a desk that uses the processor and does not answer is replaced, and the lines go on', async () => {
  await expectReplaced('SIGWINCH', 'the REST thread is stuck and is being replaced');
});

/** How many threads of a program have stepped back behind other programs. */
function threadsBehind({ pid }: RunningProgram): number {
  const stats = readdirSync(`/proc/${pid}/task`).map((id) =>
    readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8'),
  );
  // proc_pid_stat(5): the niceness is field 19, and the name before field 3 is in brackets.
  return stats.filter((stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16] === '10').length;
}

it('a desk that gets no processor time is waited for, with a higher priority where that is allowed', async () => {
  const program = await startWithMortalDesk();
  expect(threadsBehind(program)).toBe(1);
  process.kill(program.pid, 'SIGURG');
  await compute(program, 12_000);
  const log = () => program.output.stdout + program.output.stderr;
  await until(() => log().includes('REST is slow'), 'the log says so');
  expect(log()).toMatch(/silent for \d+\.\d s \(processor time 0\.0 s, waiting/);
  expect(threadsBehind(program)).toBe(log().includes('its priority is raised') ? 0 : 1);
  await until(() => log().includes('REST answers again'), 'it answers');
  expect(threadsBehind(program)).toBe(1);
  expect(await isServed(program)).toBe(true);
  expect(log()).not.toContain('replaced');
  expect(await program.stop()).toBe(0);
});

it('a desk that takes longer to start than it may be silent later is not replaced meanwhile', async () => {
  const { output } = await expectReplaced('SIGUSR2', 'REST is available again', 5000);
  expect(output.stdout + output.stderr).not.toContain('is stuck');
});

it('the desk of a program that was stopped for a while is not replaced', async () => {
  const program = await startWithMortalDesk();
  process.kill(program.pid, 'SIGSTOP');
  await delay(4000);
  process.kill(program.pid, 'SIGCONT');
  await delay(1500);
  expect(await isServed(program)).toBe(true);
  expect(await program.stop()).toBe(0);
  expect(program.output.stdout + program.output.stderr).not.toContain('replaced');
});

it('a program that is asked to end while requests to REST come in ends, and does not abort', async () => {
  const program = await startWithMortalDesk();
  const clients = new RestClients(program);
  await clients.ask();
  await compute(program, 1400);
  process.kill(program.pid, 'SIGTERM');
  await until(() => program.output.stderr.includes('line stopped'), 'the line has stopped');
  await delay(200);
  // The desk computes, and finds the order to end and these requests at once.
  await clients.ask();
  const code = await program.exited;
  clients.end();
  expect(program.output.stderr).not.toContain('FATAL ERROR');
  expect(code).toBe(0);
});

it('a desk that computes without end is replaced while requests come in, and the program does not abort', async () => {
  const program = await startWithMortalDesk();
  const clients = new RestClients(program);
  await clients.ask();
  await compute(program, Number.POSITIVE_INFINITY);
  await clients.ask();
  await until(() => /available again|FATAL/.test(program.output.stderr), 'REST is available again');
  clients.end();
  expect(program.output.stderr).toContain('the REST thread is stuck and is being replaced');
  expect(program.output.stderr).not.toContain('FATAL ERROR');
  expect(await isServed(program)).toBe(true);
  expect(await program.stop()).toBe(0);
});
