import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { dist, makeTempDir, startProgram } from '../../test/support/program.mjs';
import { PLAYED, restoring, WORLD } from './document-world.mjs';
import { adu, READ, UNIT } from './frames.mjs';
import { longestTurn, residentMb } from './plant.mjs';
import { requestsOf } from './requests.mjs';

/** @typedef {import('./requests.mjs').Request} Request */

const POLL_MS = 5;
/** A poll without an answer after this time, in ms, is lost. */
const PATIENCE_MS = 3000;
/** How long an endless answer is read, in ms, and how many bytes of it. */
const READ_MS = 60;
const READ_BYTES = 4_000_000;
const NO_ANSWER_MS = 60_000;
/** Number of requests between two queries of the longest turn. */
const BATCH = 40;
const AT_ONCE = 8;
/** Number of batches after which the initial state is restored. */
const BATCHES_PER_ROUND = 25;
export const TURN_LIMIT_MS = 5;
const TRIES_AGAIN = 3;

/**
 * Sends generated requests for every operation to the built program, alongside a client that polls every 5
 * ms.
 * @param {{requests: number, seed: number, from?: number, seconds?: number, say: (text: string) => void}}
 * options
 *   `from`: how many requests of the seed to skip, to replay a part of it
 */
export async function playDocument({ requests, seed, from = 0, seconds = Number.POSITIVE_INFINITY, say }) {
  const directory = makeTempDir();
  const probe = join(directory, 'probe');
  const program = await startProgram({
    env: { NODE_OPTIONS: `--import ${new URL('loop-probe.mjs', import.meta.url)}`, HOSTILE_PROBE: probe },
    config: PLAYED,
  });
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const { port } = new URL(program.restUrl());
  const send = (/** @type {Request} */ request) => ask(agent, Number(port), request);
  const poller = poll(program.tcpPort('guard'));
  const document = JSON.parse(
    (await send({ method: 'GET', path: '/api/v1/openapi.json', operation: '' })).body,
  );
  const next = requestsOf(document, WORLD, seed);
  for (let i = 0; i < from; i++) next();
  /** @type {Record<string, number>} */
  const statuses = {};
  /** @type {string[]} */
  const failures = [];
  const fail = (/** @type {string} */ text) => {
    failures.push(text);
    say(text);
  };
  /** @type {{turn: number, sure: boolean, what: string}[]} */
  const slow = [];
  let worst = 0;
  let sent = 0;
  let ended = false;
  program.exited.then(() => {
    ended = true;
  });
  const endsAt = performance.now() + 1000 * seconds;
  const turnOf = async () => {
    const { stall, work } = await longestTurn(probe);
    return Math.min(stall, work);
  };

  /** @param {Request} request */
  const judge = async (request) => {
    const { status, body } = await send(request);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status === 0 && !ended) fail(`no answer: ${shown(request)}: ${body}`);
    if (status >= 500 && status !== 503) fail(`${status}: ${shown(request)}: ${body.slice(0, 300)}`);
    const described = documented(document, request.operation);
    if (described && status !== 0 && !(String(status) in described))
      fail(`status ${status} is not documented: ${shown(request)}: ${body.slice(0, 300)}`);
  };

  await turnOf();
  for (let batch = 0; sent < requests && !ended && performance.now() < endsAt; batch++) {
    if (batch % BATCHES_PER_ROUND === 0) {
      const written = await fetch(`${program.restUrl()}/api/v1/configuration`);
      const refused = await checked(directory, await written.text());
      if (refused) fail(`check refuses the configuration after ${from + sent} requests: ${refused}`);
      for (const request of restoring()) await send(request);
      const turn = await turnOf();
      if (turn > TURN_LIMIT_MS) slow.push({ turn, sure: false, what: 'restoring' });
      say(
        `requests ${sent}, longest turn ${worst.toFixed(1)} ms, lost polls ${poller.lost}, failures ${failures.length}, memory ${residentMb(program.pid).toFixed(0)} MB`,
      );
    }
    const wanted = Array.from({ length: Math.min(BATCH, requests - sent) }, next);
    let at = 0;
    const worker = async () => {
      for (let request = wanted[at++]; request && !ended; request = wanted[at++]) await judge(request);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    sent += wanted.length;
    if (ended) break;
    const turn = await turnOf();
    if (turn <= TURN_LIMIT_MS) {
      worst = Math.max(worst, turn);
      continue;
    }
    // Finds out which request it was, and whether it happens each time: a delay by the machine between two
    // turns is not the program's fault.
    let found = { turn: 0, what: '' };
    for (const request of wanted) {
      let least = Number.POSITIVE_INFINITY;
      for (let i = 0; i < TRIES_AGAIN && least > TURN_LIMIT_MS && !ended; i++) {
        await send(request);
        least = Math.min(least, await turnOf());
      }
      if (least > found.turn && least < Number.POSITIVE_INFINITY)
        found = { turn: least, what: shown(request) };
    }
    const sure = found.turn > TURN_LIMIT_MS;
    if (sure) worst = Math.max(worst, found.turn);
    slow.push(sure ? { ...found, sure } : { turn, sure, what: wanted.map(shown).join('\n    ') });
    say(
      `turn took ${turn.toFixed(1)} ms${sure ? `; repeated, at least ${found.turn.toFixed(1)} ms: ${found.what}` : `; not repeated; in the ${wanted.length} requests up to ${from + sent}`}`,
    );
  }
  await delay(100);
  const polls = await poller.end();
  agent.destroy();
  const diedEarly = ended;
  const exitCode = diedEarly ? await program.exited : await program.stop();
  rmSync(directory, { recursive: true });
  if (diedEarly)
    failures.push(`the program exited with code ${exitCode}: ${program.output.stderr.slice(-3000)}`);
  return { sent, statuses, failures, slow, worst, ...polls };
}

/**
 * What `check` reports about a configuration; empty if it accepts it.
 * @param {string} directory @param {string} text @returns {Promise<string>}
 */
function checked(directory, text) {
  const file = join(directory, 'written.yaml');
  writeFileSync(file, text);
  return new Promise((resolve) =>
    execFile(process.execPath, [join(dist, 'main.js'), 'check', file], (error, _, stderr) =>
      resolve(error ? `${error.message} ${stderr}` : ''),
    ),
  );
}

/** @param {any} document @param {string} operation `get /path` */
function documented(document, operation) {
  const [method = '', path = ''] = operation.split(' ');
  return document.paths[path]?.[method]?.responses;
}

/** @param {Request} request */
function shown({ method, path, body }) {
  return `${method} ${path.slice(0, 300)} ${(body ?? '').slice(0, 1500)}`;
}

/**
 * Status 0 means that there is no answer. @param {Agent} agent @param {number} port @param {Request} request
 * @returns {Promise<{status: number, body: string}>}
 */
function ask(agent, port, { method, path, body, type }) {
  return new Promise((resolve) => {
    const headers = {
      host: 'localhost',
      ...(body !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
    };
    const asked = httpRequest(
      { agent, port, host: '127.0.0.1', method, path: encodable(path), headers },
      (response) => {
        const status = response.statusCode ?? 0;
        /** @type {Buffer[]} */
        const parts = [];
        let length = 0;
        const done = () => {
          clearTimeout(limit);
          resolve({ status, body: Buffer.concat(parts).toString() });
        };
        const limit = setTimeout(() => response.destroy(), READ_MS);
        response.on('data', (part) => {
          length += part.length;
          if (length <= READ_BYTES) parts.push(part);
          else response.destroy();
        });
        response.on('close', done);
        response.on('error', () => {});
      },
    );
    asked.setTimeout(NO_ANSWER_MS, () => asked.destroy(new Error('no answer within a minute')));
    asked.on('error', (error) => resolve({ status: 0, body: error.message }));
    asked.end(body);
  });
}

/** Encodes a path so that it can be part of a request line. @param {string} path */
function encodable(path) {
  return path.replace(/[^\x21-\x7e]/gu, (part) => encodeURIComponent(Buffer.from(part).toString()));
}

/** A client of the guard that polls every 5 ms, whatever became of its earlier requests. @param {number} port */
function poll(port) {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  /** The time at which each open request was sent, by transaction. @type {Map<number, number>} */
  const open = new Map();
  const seen = { polls: 0, lost: 0, longest: 0 };
  let closed = false;
  let rest = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
  });
  socket.on('data', (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (
      let length = 6 + (rest.length < 6 ? 0 : rest.readUInt16BE(4));
      rest.length >= 7 && rest.length >= length;
    ) {
      const transaction = rest.readUInt16BE(0);
      const at = open.get(transaction);
      open.delete(transaction);
      if (at !== undefined) seen.longest = Math.max(seen.longest, performance.now() - at);
      rest = rest.subarray(length);
      length = 6 + (rest.length < 6 ? 0 : rest.readUInt16BE(4));
    }
  });
  const giveUp = (/** @type {number} */ limit) => {
    for (const [transaction, at] of open) {
      if (performance.now() - at < limit) continue;
      open.delete(transaction);
      seen.lost++;
    }
  };
  const timer = setInterval(() => {
    giveUp(PATIENCE_MS);
    if (closed) {
      seen.lost++;
      return;
    }
    // One request at a time, like a master, which sends the next one when the last is answered.
    if (open.size > 0) return;
    const transaction = seen.polls++ & 0xffff;
    open.set(transaction, performance.now());
    socket.write(adu('socket', READ, UNIT, transaction));
  }, POLL_MS);
  return {
    get lost() {
      return seen.lost;
    },
    async end() {
      clearInterval(timer);
      for (let i = 0; i < 60 && open.size > 0; i++) await delay(50);
      giveUp(0);
      socket.destroy();
      return seen;
    },
  };
}
