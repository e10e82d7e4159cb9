import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startProgram } from '../../test/support/program.mjs';
import { until } from './hostile-broker.mjs';
import { oneOf } from './sinks.mjs';

/** Limit of the program's open files. As many connections go to its lines, and REST is queried as well. */
const LIMIT = 300;
const LINES = ['a', 'b', 'c', 'd'];
const REQUESTS = 30;
const PATIENCE_MS = 60_000;

/**
 * Clients occupy all connections of four lines. REST must still answer, and the state must still be written.
 * @param {string} directory
 */
export async function holdFiles(directory) {
  const node = join(directory, 'node');
  writeFileSync(node, `#!/bin/sh\nulimit -n ${LIMIT}\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 });
  const state = join(directory, 'state');
  const program = await startProgram({
    node,
    args: ['--state', state],
    config: {
      devices: { meter: { registers: { holding: [{ address: 0, write: true }] } } },
      lines: Object.fromEntries(LINES.map((line) => [line, { tcp: { port: 0 }, units: { 1: 'meter' } }])),
    },
  });
  /** @type {import('node:net').Socket[]} */
  const held = [];
  try {
    for (let i = 0; i < LIMIT; i++) {
      const socket = connect(program.tcpPort(LINES[i % LINES.length] ?? ''), '127.0.0.1');
      held.push(socket.on('error', () => {}));
      // On a busy machine, a connection that was refused may be closed before this process sees it open.
      await oneOf(socket, 'connect', 'close');
    }
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const asked = Array.from({ length: REQUESTS }, () =>
      fetch(`${program.restUrl()}/api/v1/lines`, { signal }),
    );
    const answered = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled');
    assert.equal(answered.length, REQUESTS, 'not every REST request was answered');
    const changes = [{ table: 'holding', address: 0, value: 4711 }];
    const changed = await fetch(`${program.restUrl()}/api/v1/devices/meter/registers`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ changes }),
    });
    assert.equal(changed.status, 200);
    const isWritten = () =>
      existsSync(state) && readdirSync(state).some((name) => /^device-meter.*json$/.test(name));
    await until(isWritten, 'the state is written');
    return `${held.length} connections with a limit of ${LIMIT} files: ${REQUESTS} REST requests answered, state written`;
  } finally {
    for (const socket of held) socket.destroy();
    await program.stop();
  }
}
