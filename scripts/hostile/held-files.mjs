import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startProgram } from '../../test/support/program.mjs';

/** Open files of the program. As many connections as that go to its lines, and REST is asked beside them. */
const LIMIT = 300;
const LINES = ['a', 'b', 'c', 'd'];
const REQUESTS = 30;
const PATIENCE_MS = 20_000;

/** Clients hold all connections that four lines give them. REST is answered all the same. @param {string} directory */
export async function holdFiles(directory) {
  const node = join(directory, 'node');
  writeFileSync(node, `#!/bin/sh\nulimit -n ${LIMIT}\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 });
  const program = await startProgram({
    node,
    config: {
      devices: { meter: { registers: { holding: [{ address: 0 }] } } },
      lines: Object.fromEntries(LINES.map((line) => [line, { tcp: { port: 0 }, units: { 1: 'meter' } }])),
    },
  });
  /** @type {import('node:net').Socket[]} */
  const held = [];
  try {
    for (let i = 0; i < LIMIT; i++) {
      const socket = connect(program.tcpPort(LINES[i % LINES.length] ?? ''), '127.0.0.1');
      held.push(socket.on('error', () => {}));
      await once(socket, 'connect');
    }
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const asked = Array.from({ length: REQUESTS }, () =>
      fetch(`${program.restUrl()}/api/v1/lines`, { signal }),
    );
    const answered = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled');
    assert.equal(answered.length, REQUESTS, 'requests of REST were not answered');
    return `${held.length} connections with ${LIMIT} files, ${REQUESTS} requests of REST beside them answered`;
  } finally {
    for (const socket of held) socket.destroy();
    await program.stop();
  }
}
