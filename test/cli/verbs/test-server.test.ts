import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newClient } from '../../../src/modbus/client/client.js';
import { readClaims } from '../../../src/testing/server/claims.js';
import { dist, startProgram } from '../../support/program.mjs';
import { run, scratchSpace } from './run.js';

/* The command test-server, on the program itself as servers that are wrong in known ways. */

const { newDirectory, newFile } = scratchSpace();
const registers = {
  holding: [{ address: 0, value: Array.from({ length: 140 }, (_, i) => 100 + i), write: true }],
  coils: [{ address: 0, value: [1, 0, 1, 1, 0, 0, 1, 0, 1], write: true }],
};

/** Servers by what is wrong with them: the checks that are asked for, and those that are violated. */
const SERVERS = {
  plain: { checks: 'refusals', violates: [] as string[] },
  few: {
    manners: { most: { registers: 40 } },
    checks: 'fc03-quantity-125',
    violates: ['fc03-quantity-125'],
  },
  mute: {
    faults: [{ when: { function: [7, 11, 99] }, do: [{ silence: true }] }],
    checks: 'function-unknown,fc07-shape,fc11-shape',
    violates: ['function-unknown'],
  },
  transactions: { faults: [{ do: [{ transaction: 0 }] }], checks: 'mbap-echo', violates: ['mbap-echo'] },
  unheard: { tcp: { maxClients: 1, whenFull: 'ignore' }, checks: 'connections', violates: ['connections'] },
  pipelined: {
    tcp: { pipelining: 'drop' },
    // On a busy machine, a request would be answered before the next one arrives: nothing would be dropped.
    faults: [{ do: [{ delay: 100 }] }],
    checks: 'tcp-pipelined,tcp-coalesced',
    violates: ['tcp-coalesced', 'tcp-pipelined'],
  },
  one: {
    tcp: { maxClients: 1, whenFull: 'refuse' },
    checks: 'tcp-split,half-frame-elsewhere',
    violates: [],
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
      lines: Object.fromEntries(
        entries.map(([name, server]) => [
          name,
          { tcp: { port: 0, ...('tcp' in server && server.tcp) }, units: { 1: name } },
        ]),
      ),
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

describe('tests a server on a real connection', () => {
  it.concurrent.each(Object.entries(SERVERS))('%s', async (line, { checks, violates }) => {
    const file = join(newDirectory(), 'card.json');
    const args = ['test-server', '--tcp', place(line), '--checks', checks, '--seed', '1', '--json', file];
    const { code, stdout } = await run(args, newDirectory());
    const found: { id: string; verdict: string; text: string }[] = JSON.parse(
      readFileSync(file, 'utf8'),
    ).checks;
    const those = found.filter(({ verdict }) => verdict === 'violates').map(({ id }) => id);
    // Where this machine is late itself, a check says so and blames nobody.
    const late = found.filter(({ text }) => /this machine was \d+ ms late/.test(text)).map(({ id }) => id);
    expect(those, stdout).toEqual(violates.filter((id) => !late.includes(id)));
    expect(code).toBe(those.length > 0 ? 1 : 0);
  });
});

it('gives a draft of claims alone on standard output, and the report on standard error', async () => {
  const args = ['test-server', '--tcp', place('plain'), '--checks', 'fc03-quantity-0', '--tester', 'Ada'];
  const { code, stdout, stderr } = await run([...args, '--claims-template', '-'], newDirectory());
  const claims = newFile(stdout, 'claims.yaml');
  expect(readClaims(claims), stdout).toMatchObject({
    ok: true,
    value: { functions: expect.arrayContaining([3]) },
  });
  expect(stderr).toMatch(/^conforms +fc03-quantity-0/m);
  expect(stderr).toContain('FOR THE DATA SHEET');
  expect(stderr).toContain('Ada');
  expect(code).toBe(0);
});

it('puts the values of scratch addresses back when Ctrl-C ends it in the middle of the writes', async () => {
  const scratch = ['--scratch', 'holding:0-9', '--checks', 'fc06-echo,fc16-echo,write-read-back'];
  const child = spawn(
    process.execPath,
    // The pause keeps each written value there for as long, and this machine may be busy.
    [
      join(dist, 'main.js'),
      'test-server',
      '--tcp',
      place('plain'),
      '--seed',
      '1',
      '--pause',
      '200ms',
      ...scratch,
    ],
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
    // A second signal does not end it before the values are back.
    child.kill('SIGINT');
    const [code] = await ended;
    expect(await words()).toBe(before);
    expect(code).toBe(2);
  } finally {
    child.kill('SIGKILL');
    await client.close();
  }
});
