import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newClient } from '../../../src/modbus/client/client.js';
import { dist, startProgram } from '../../support/program.mjs';
import { run, scratchSpace } from './run.js';

/* The command inspect, on the program itself as servers that are wrong in known ways. */

const { newDirectory } = scratchSpace();
const registers = {
  holding: [{ address: 0, value: Array.from({ length: 140 }, (_, i) => 100 + i), write: true }],
  coils: [{ address: 0, value: [1, 0, 1, 1, 0, 0, 1, 0, 1], write: true }],
};

/** Servers by what is wrong with them: one check that tells it, and the words that name it. */
const SERVERS = {
  plain: { checks: 'frames,refusals', violates: [] as string[] },
  few: { manners: { most: { registers: 40 } }, checks: 'has', violates: ['fc03-quantity-125'] },
  pause: { manners: { pauseBefore: 60 }, checks: 'frames', violates: ['back-to-back'] },
  mute: {
    faults: [{ when: { function: [7, 8, 11, 17, 99] }, do: [{ silence: true }] }],
    checks: 'identification,function-unknown',
    violates: ['function-unknown'],
  },
  transactions: {
    faults: [{ do: [{ transaction: 0 }] }],
    checks: 'mbap-echo',
    violates: ['mbap-echo'],
  },
} as const;

let program: Awaited<ReturnType<typeof startProgram>>;

beforeAll(async () => {
  const entries = Object.entries(SERVERS);
  program = await startProgram({
    config: {
      devices: Object.fromEntries(
        entries.map(([name, server]) => [
          name,
          { registers, ...('manners' in server && { manners: server.manners }) },
        ]),
      ),
      lines: Object.fromEntries(entries.map(([name]) => [name, { tcp: { port: 0 }, units: { 1: name } }])),
      faults: entries.flatMap(([line, server]) =>
        'faults' in server
          ? server.faults.map((fault, i) => ({
              name: `${line}-${i}`,
              ...fault,
              when: { line, ...('when' in fault && fault.when) },
            }))
          : [],
      ),
    },
  });
});

afterAll(async () => {
  await program.stop();
});

const place = (line: string) => `127.0.0.1:${program.tcpPort(line)}`;

describe('inspects a server on a real connection', () => {
  it.each(Object.entries(SERVERS))('%s', async (line, { checks, violates }) => {
    const file = join(newDirectory(), 'card.json');
    const args = ['inspect', '--tcp', place(line), '--checks', checks, '--seed', '1', '--json', file];
    const { code, stdout } = await run(args, newDirectory());
    const found: { id: string; verdict: string }[] = JSON.parse(readFileSync(file, 'utf8')).checks;
    const those = found.filter(({ verdict }) => verdict === 'violates').map(({ id }) => id);
    expect(those, stdout).toEqual(violates);
    expect(code).toBe(violates.length > 0 ? 1 : 0);
  });
});

it('puts the values of scratch addresses back when Ctrl-C ends it in the middle of the writes', async () => {
  const scratch = ['--scratch', 'holding:0-129,coils:0-8', '--checks', 'writes'];
  const child = spawn(
    process.execPath,
    [join(dist, 'main.js'), 'inspect', '--tcp', place('plain'), '--seed', '1', ...scratch],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const client = newClient({
    kind: 'tcp',
    host: '127.0.0.1',
    port: program.tcpPort('plain'),
    framing: 'socket',
  });
  const words = async () => {
    const outcome = await client.ask({ unitId: 1, pdu: Uint8Array.of(3, 0, 0, 0, 2), timeout: 5000 });
    return outcome.kind === 'answered' ? Buffer.from(outcome.pdu).toString('hex') : outcome.kind;
  };
  try {
    const before = await words();
    const ended = once(child, 'close');
    while (child.exitCode === null && (await words()) === before);
    expect(child.exitCode).toBe(null);
    child.kill('SIGINT');
    const [code] = await ended;
    expect(await words()).toBe(before);
    expect(code).toBe(0);
  } finally {
    child.kill('SIGKILL');
    await client.close();
  }
});
