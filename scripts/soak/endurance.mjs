import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { GoodClient } from '../hostile/good-client.mjs';
import { heapMb, heldMb, openDescriptors, SIDES, startPlant } from '../hostile/plant.mjs';
import { driftOf } from './drift.mjs';
import { askForAnything, useRest } from './mixed.mjs';
import { randomNumbers } from './requests.mjs';

/** Number of parts: the first is for warming up, the second is compared with the last. */
const PARTS = 6;

/**
 * Runs seven lines of all kinds, each with a client that disconnects and reconnects, a client that sends
 * random requests, and all of REST.
 * @param {number} minutes
 * @param {number} seed
 * @param {{broker?: string | undefined, snapshots?: string | undefined, say?: (text: string) => void}}
 * [options] `broker`: the URL of a broker that the program connects to; `snapshots`: a directory for a heap
 * snapshot of each side after each part, which takes seconds; `say`: called after each part, because an
 * aborted soak has no table
 * @returns {Promise<{parts: readonly import('./drift.mjs').Part[], problems: readonly string[]}>}
 */
export async function soakEndurance(minutes, seed, { broker, snapshots, say = () => {} } = {}) {
  const mqtt = broker && {
    url: broker,
    topic: 'modbus-sim/soak',
    commands: 'all',
    homeAssistant: true,
    sparkplug: true,
  };
  const { program, targets, rest, probe, directory } = await startPlant(mqtt ? { mqtt } : {});
  const clients = targets.map((target) => new GoodClient(target));
  for (const client of clients) client.start();
  const stopped = new AbortController();
  const counts = { rest: 0, failed: /** @type {string[]} */ ([]) };
  const work = [
    reconnect(clients, randomNumbers(seed), stopped.signal),
    askForAnything(targets[0]?.port ?? 0, seed, stopped.signal),
    useRest(rest, counts, stopped.signal),
  ];
  /** @type {import('./drift.mjs').Part[]} */
  const parts = [];
  for (let part = 0; part < PARTS; part++) {
    for (const client of clients) client.take();
    counts.rest = 0;
    const waited = new AbortController();
    const isOver = delay((minutes * 60_000) / PARTS, true, { signal: waited.signal });
    if (!(await Promise.race([isOver, program.exited.then(() => false)]))) {
      isOver.catch(() => {});
      waited.abort();
      break;
    }
    const seen = clients.map((client) => client.take());
    const heap = { lines: 0, desk: 0 };
    const code = { lines: 0, desk: 0 };
    for (const side of SIDES) {
      const snapshot = snapshots && `${snapshots}/${part + 1}-${side}.heapsnapshot`;
      const held = await heapMb(probe, side, snapshot);
      heap[side] = held.used;
      code[side] = held.code;
    }
    parts.push({
      heap,
      code,
      memory: await heldMb(program.pid),
      descriptors: openDescriptors(program.pid),
      rest: counts.rest,
      lines: Object.fromEntries(
        targets.map(({ line }, i) => [line, { ...spread(seen[i]?.times ?? []), lost: seen[i]?.lost ?? 0 }]),
      ),
    });
    const { memory, descriptors, lines } = /** @type {import('./drift.mjs').Part} */ (parts.at(-1));
    const lost = Object.values(lines).reduce((sum, line) => sum + line.lost, 0);
    say(
      `part ${part + 1} of ${PARTS}: in MB: lines heap ${heap.lines.toFixed(2)} (code ${code.lines.toFixed(2)}), desk heap ${heap.desk.toFixed(2)} (code ${code.desk.toFixed(2)}), memory ${memory.toFixed(1)}; file descriptors ${descriptors}, lost requests ${lost}, REST requests ${counts.rest}, failures ${counts.failed.length}`,
    );
  }
  stopped.abort();
  await Promise.all(work);
  for (const client of clients) await client.stop();
  const exitCode = await program.stop();
  rmSync(directory, { recursive: true, force: true });
  const problems = [...counts.failed, ...driftOf(parts)];
  if (/REST thread/.test(program.output.stderr)) problems.push(program.output.stderr);
  if (exitCode !== 0 || parts.length < PARTS)
    problems.push(
      `the program exited with code ${exitCode} in part ${parts.length + 1}\n${program.output.stderr}`,
    );
  return { parts, problems };
}

/**
 * Every half second, one client disconnects and reconnects.
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

/** @param {number[]} times */
function spread(times) {
  const sorted = times.toSorted((a, b) => a - b);
  /** @param {number} share */
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { requests: sorted.length, median: at(0.5), p99: at(0.99) };
}
