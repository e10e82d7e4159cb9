import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type RunningProgram, startProgram } from '../support/program.mjs';
import { RawClient, until } from '../transport/socket/raw-client.js';
import { METER, TCP_LINE } from './plant.js';
import { scratchSpace } from './run.js';

const { newDirectory } = scratchSpace();

/** Read holding register 0 of unit 1. */
const READ = Buffer.from('000100000006010300000001', 'hex');

/**
 * A program whose desk dies on SIGUSR2. On SIGWINCH the side of the lines hears no more of it, as if it were silent. The
 * desk is asked whether it lives every half second, not every two, so that nobody waits so long.
 */
async function startWithMortalDesk(): Promise<RunningProgram> {
  const hook = join(newDirectory(), 'hook.cjs');
  writeFileSync(
    hook,
    `let desk;
     process.on('worker', (worker) => { desk = worker; });
     process.on('SIGUSR2', () => desk.terminate());
     process.on('SIGWINCH', () => {
       desk.removeAllListeners('message');
     });
     const every = setInterval;
     globalThis.setInterval = (call, ms, ...rest) => every(call, ms === 2000 ? 500 : ms, ...rest);`,
  );
  return startProgram({
    config: { devices: METER, lines: { lan: TCP_LINE } },
    env: { NODE_OPTIONS: `--require ${hook}` },
  });
}

async function isServed(program: RunningProgram): Promise<boolean> {
  try {
    return (await fetch(`${program.restUrl()}/healthz`)).ok;
  } catch {
    return false;
  }
}

/** Sends a request and waits for its reply. */
async function poll(client: RawClient): Promise<void> {
  const before = client.received.length;
  client.send(READ);
  await until(() => client.received.length >= before + 11, 'the reply has come');
}

it.each([
  ['dies', 'SIGUSR2', 'REST is served again'],
  ['is silent', 'SIGWINCH', 'the thread of REST is silent and is replaced'],
] as const)('a desk that %s is replaced, and the lines go on', async (_, signal, reason) => {
  const program = await startWithMortalDesk();
  const client = new RawClient(program.tcpPort('lan'));
  await poll(client);
  expect(await isServed(program)).toBe(true);
  process.kill(program.pid, signal);
  const log = () => program.output.stdout + program.output.stderr;
  while (!log().includes('REST is served again')) await poll(client);
  expect(log()).toContain(reason);
  await poll(client);
  // The next desk listens at the same address, and has the traffic from before.
  expect(await isServed(program)).toBe(true);
  const page = await fetch(`${program.restUrl()}/api/v1/traffic?limit=1000&kind=request`);
  const { events } = (await page.json()) as { events: readonly { readonly seq: number }[] };
  expect(events.length).toBeGreaterThan(2);
  client.socket.destroy();
  expect(await program.stop()).toBe(0);
});

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

it('whoever has an answer to a write or a poll reads what it did', async () => {
  const program = await startProgram({ config: { devices: METER, lines: { lan: TCP_LINE } } });
  const client = new RawClient(program.tcpPort('lan'));
  const url = `${program.restUrl()}/api/v1`;
  for (let i = 1; i <= 50; i++) {
    await poll(client);
    const page = (await (await fetch(`${url}/traffic?kind=request&limit=1`)).json()) as {
      readonly events: readonly { readonly seq: number }[];
    };
    expect(page.events.length).toBe(1);
    const changed = await fetch(`${url}/devices/meter/registers`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ changes: [{ table: 'holding', address: 0, value: i }] }),
    });
    expect(changed.status).toBe(200);
    const words = await fetch(`${url}/devices/meter/words?table=holding&from=0&to=0`);
    expect(((await words.json()) as { words: number[] }).words).toEqual([i]);
    await fetch(`${url}/traffic`, { method: 'DELETE' });
    const empty = (await (await fetch(`${url}/traffic`)).json()) as typeof page;
    expect(empty.events).toEqual([]);
  }
  client.socket.destroy();
  expect(await program.stop()).toBe(0);
});
