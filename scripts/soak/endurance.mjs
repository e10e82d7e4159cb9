import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { GoodClient } from '../hostile/good-client.mjs';
import { heldMb, openDescriptors, startPlant } from '../hostile/plant.mjs';
import { driftOf } from './drift.mjs';
import { randomNumbers } from './requests.mjs';

/** Parts of the time: the first warms up, the second is compared with the last. */
const PARTS = 5;

/** Slows some replies and changes none, so that every client can judge all its answers. */
const RULES = {
  slow: { when: { every: 7 }, do: [{ delay: 3 }] },
  split: {
    when: { every: 5, line: ['serial rtu', 'rtu over tcp'] },
    do: [{ split: { at: 'middle', gap: 1 } }],
  },
  never: { when: { unit: 99 }, do: [{ silence: true }] },
};

/**
 * Seven lines of all kinds with a client each that comes and goes, fault rules that come and go, and REST, for so long.
 * @param {number} minutes
 * @param {number} seed
 * @returns {Promise<{parts: readonly import('./drift.mjs').Part[], problems: readonly string[]}>}
 */
export async function soakEndurance(minutes, seed) {
  const { program, targets, rest, directory } = await startPlant();
  const clients = targets.map((target) => new GoodClient(target));
  for (const client of clients) client.start();
  const stopped = new AbortController();
  const counts = { rest: 0, failed: /** @type {string[]} */ ([]) };
  const work = [
    reconnect(clients, randomNumbers(seed), stopped.signal),
    useRest(rest, counts, stopped.signal),
  ];
  /** @type {import('./drift.mjs').Part[]} */
  const parts = [];
  for (let part = 0; part < PARTS; part++) {
    for (const client of clients) client.take();
    counts.rest = 0;
    await delay((minutes * 60_000) / PARTS);
    const seen = clients.map((client) => client.take());
    parts.push({
      memory: await heldMb(program.pid),
      descriptors: openDescriptors(program.pid),
      lost: seen.reduce((sum, { lost }) => sum + lost, 0),
      rest: counts.rest,
      lines: Object.fromEntries(targets.map(({ line }, i) => [line, spread(seen[i]?.times ?? [])])),
    });
  }
  stopped.abort();
  await Promise.all(work);
  for (const client of clients) await client.stop();
  const exitCode = await program.stop();
  rmSync(directory, { recursive: true, force: true });
  const problems = [...counts.failed, ...driftOf(parts)];
  if (exitCode !== 0) problems.push(`the program ended with ${exitCode}`);
  return { parts, problems };
}

/**
 * Every half second one client hangs up, and comes back.
 * @param {readonly GoodClient[]} clients
 * @param {(limit: number) => number} random
 * @param {AbortSignal} signal
 */
async function reconnect(clients, random, signal) {
  while (!signal.aborted) {
    const client = clients[random(clients.length)];
    await client?.stop();
    client?.start();
    await delay(500, undefined, { signal }).catch(() => {});
  }
}

/**
 * Puts rules in force and removes them, and reads what there is to read.
 * @param {import('../hostile/good-client.mjs').Target} target
 * @param {{rest: number, failed: string[]}} counts
 * @param {AbortSignal} signal
 */
async function useRest({ port, token }, counts, signal) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const requests = [
    ...Object.entries(RULES).map(([name, rule]) => ['PUT', `faults/${name}`, JSON.stringify(rule)]),
    ...['lines', 'devices', 'faults', 'exchanges?limit=100', 'traffic?limit=100'].map((path) => [
      'GET',
      path,
    ]),
    ...Object.keys(RULES).map((name) => ['DELETE', `faults/${name}`]),
  ];
  for (let i = 0; !signal.aborted; i = (i + 1) % requests.length) {
    const [method = '', path = '', body] = requests[i] ?? [];
    const url = `http://127.0.0.1:${port}/api/v1/${path}`;
    const sent = method === 'PUT' ? headers : { authorization: headers.authorization };
    const response = await fetch(url, { method, headers: sent, ...(body !== undefined && { body }) });
    const text = await response.text();
    if (!response.ok && counts.failed.length < 5)
      counts.failed.push(`${method} ${path}: ${text.slice(0, 200)}`);
    counts.rest++;
    await delay(20, undefined, { signal }).catch(() => {});
  }
}

/** @param {number[]} times */
function spread(times) {
  const sorted = times.toSorted((a, b) => a - b);
  /** @param {number} share */
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { requests: sorted.length, median: at(0.5), p99: at(0.99) };
}
