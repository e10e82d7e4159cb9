import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startProgram } from '../../test/support/program.mjs';
import { adu, UNIT, VALUES } from './frames.mjs';
import { GoodClient } from './good-client.mjs';
import { residentMb } from './plant.mjs';

/* Heavy use of REST, on a program with a small heap. */

/** @typedef {import('../../test/support/program.mjs').RunningProgram} Program */
/** @typedef {(path: string, method?: string, body?: object) => Promise<Response>} Rest */

const REGISTERS = 10_000;
const PLAYED = {
  env: { NODE_OPTIONS: '--max-old-space-size=256' },
  config: {
    devices: {
      meter: { registers: { holding: [{ address: 0, quantity: REGISTERS, write: true }] } },
      guard: { registers: { holding: [{ address: 0, value: VALUES }] } },
    },
    lines: {
      lan: { tcp: { port: 0 }, units: { [UNIT]: 'meter' } },
      guard: { tcp: { port: 0 }, units: { [UNIT]: 'guard' } },
    },
  },
};
const REQUESTS = 60_000;
/** Number of requests in flight. */
const AT_ONCE = 200;
/**
 * Number of other REST requests answered, one after another, before the learned file comes. A REST thread that
 * learns without a pause answers one; how many more it is otherwise depends on the machine.
 */
const BESIDE = 20;
/**
 * Pause between two of them, in ms. The thread that learns yields to requests without a pause, and would take
 * minutes on a busy machine.
 */
const PAUSE_MS = 15;
/** Each once leaked a timer and 119 KB. */
const CLIENT_TESTS = 2100;

/**
 * @template Result
 * @param {(program: Program, rest: Rest) => Promise<Result>} use
 */
async function inSmallHeap(use) {
  const program = await startProgram(PLAYED);
  try {
    const url = `${program.restUrl()}/api/v1`;
    const headers = { 'content-type': 'application/json' };
    const seen = await use(program, (path, method = 'GET', body = undefined) =>
      fetch(`${url}/${path}`, { method, ...(body && { headers, body: JSON.stringify(body) }) }),
    );
    assert.doesNotMatch(program.output.stderr, /REST thread/);
    return seen;
  } catch (error) {
    assert.fail(`${/** @type {Error} */ (error).message}; ${program.output.stderr.slice(-1000)}`);
  } finally {
    await program.stop();
  }
}

/** Makes all requests different: the i-th reads or writes registers that no other does. @param {number} i */
function varied(i) {
  const first = i % (REGISTERS - 100);
  const at = [first >> 8, first & 0xff];
  const value = [(i >> 8) & 0xff, i & 0xff];
  return i % 3 === 0 ? [6, ...at, ...value] : [3, ...at, 0, 1 + (i % 97)];
}

/** @param {Program} program */
async function askMuch(program) {
  const socket = connect(program.tcpPort('lan'), '127.0.0.1');
  for (let i = 0; i < REQUESTS; i += AT_ONCE) {
    const pdus = Array.from({ length: AT_ONCE }, (_, k) => varied(i + k));
    socket.write(Buffer.concat(pdus.map((pdu, k) => adu('socket', pdu, UNIT, k))));
    let wanted = pdus.reduce((sum, [code, , , , count = 0]) => sum + (code === 6 ? 12 : 9 + 2 * count), 0);
    while (wanted > 0) wanted -= (await once(socket, 'data'))[0].length;
  }
  socket.destroy();
}

/** Learns devices from 60,000 different requests, while REST and a line answer others. */
export function learnMuch() {
  return inSmallHeap(async (program, rest) => {
    await askMuch(program);
    const port = program.tcpPort('guard');
    const poller = new GoodClient({ line: 'guard', kind: 'tcp', framing: 'socket', path: '', port });
    poller.start();
    let text = '';
    const learned = rest('learned.yaml?line=lan').then(async (answer) => {
      assert.equal(answer.status, 200, await answer.clone().text());
      text = await answer.text();
    });
    const times = [];
    while (text === '') {
      const askedAt = performance.now();
      const page = rest('lines/guard').then((answer) => answer.json());
      await Promise.race([page, learned]);
      if (text === '') times.push(performance.now() - askedAt);
      await delay(PAUSE_MS);
    }
    const memory = residentMb(program.pid);
    await poller.settled();
    const polls = poller.take();
    await poller.stop();
    assert.equal(polls.lost, 0, 'polls were lost');
    assert.ok(
      times.length > BESIDE,
      `REST answered only ${times.length} other requests before the result of learning`,
    );
    const slowest = Math.max(...times).toFixed(0);
    return `a file of ${text.length} bytes; REST answers while learning: ${times.length}, slowest ${slowest} ms; polls: ${polls.times.length}, slowest ${Math.max(...polls.times).toFixed(0)} ms; memory ${memory.toFixed(0)} MB`;
  });
}

/** Starts and cancels client tests, one after another. */
export function beginAndCallOff() {
  return inSmallHeap(async (_, rest) => {
    for (let i = 0; i < CLIENT_TESTS; i++) {
      const begun = await rest('runs', 'POST', { kind: 'client', line: 'lan', limit: '10m' });
      const { id, error } = /** @type {{id: number, error?: string}} */ (await begun.json());
      assert.equal(begun.status, 201, `client test ${i}: ${error}`);
      const ended = await rest(`runs/${id}`, 'DELETE');
      assert.equal(ended.status, 204, `client test ${i} did not stop`);
    }
    return `${CLIENT_TESTS} client tests`;
  });
}
