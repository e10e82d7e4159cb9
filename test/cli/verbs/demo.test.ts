import { realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProgram } from '../../support/program.mjs';
import { openRawClient, readReply, readRequest } from './clients.js';

/** The port of the demo's Modbus TCP line, which is always this one. */
const DEMO_PORT = 5020;

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

describe('modbus-sim without arguments', () => {
  it('runs a demo: says where each line and REST is, serves there, and a second one beside it chooses a free port and another link, and says so', async (context) => {
    if (!(await isFree(DEMO_PORT))) context.skip(`another program has port ${DEMO_PORT}`);
    const program = await startProgram({ args: ['--http_port', '0'] });

    const link = join(program.directory, 'modbus-sim', 'demo');
    const path = realpathSync(link);
    expect(program.output.stdout.trim().split('\n')).toEqual([
      expect.stringContaining(
        `line demo: RTU on ${path} (also ${link}) 9600 8N1, units 1, 2; t1.5 1.719 ms, `,
      ),
      'line lan: Modbus TCP on 127.0.0.1:5020, units 1, 2',
      expect.stringMatching(/^REST on http:\/\/127\.0\.0\.1:\d+$/),
      'ready',
    ]);

    const client = await openRawClient(link);
    client.send(readRequest(2, 0, 4));
    const reply = readReply(2, 10, 20, 30, 40);
    expect(await client.receive(reply.length)).toEqual(reply);
    await client.close();
    expect((await fetch(`${program.restUrl()}/healthz`)).status).toBe(200);

    const second = await startProgram({ args: ['--http_port', '0'], env: { TMPDIR: program.directory } });
    expect(second.output.stdout).toContain(
      `process ${program.pid} uses the link of line demo, so this program uses ${link}-${second.pid}\n` +
        `port ${DEMO_PORT} is taken, so line lan uses a free one\n`,
    );
    expect(second.output.stdout).toMatch(/^line lan: Modbus TCP on 127\.0\.0\.1:(?!5020)\d+, units 1, 2$/m);
    expect(await second.stop()).toBe(0);
    expect(await program.stop()).toBe(0);
  });
});
