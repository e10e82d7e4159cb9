import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { makeTempDir } from '../test/support/program.mjs';
import { CORE, message, pin, processorTime, start, startCommand } from './processes.mjs';
import { median } from './report.mjs';

/**
 * A server that listens.
 * @typedef {{what: string, port: number, pid: number, end: () => Promise<unknown>}} Server
 */

/**
 * What the clients saw, and what the server used meanwhile. Times are those of one request in ms, or of one round of
 * pipelined requests; `serverTime` is the processor time of the server for one request in µs.
 * @typedef {{perSecond: number, median: number, p99: number, serverTime: number, serverLoad: number, ownLoad: number}} Load
 */

/** Loads each server by turns, so that what else the machine does hits all of them. Gives the medians of the rounds. */
export async function sideBySide(servers, rounds, load) {
  const measured = new Map(servers.map((server) => [server, []]));
  for (let round = 0; round < rounds; round++) {
    for (const server of servers) measured.get(server).push(await load(server));
  }
  return new Map(servers.map((server) => [server, mediansOf(measured.get(server))]));
}

function mediansOf(loads) {
  return Object.fromEntries(
    Object.keys(loads[0]).map((key) => [key, median(loads.map((load) => load[key]))]),
  );
}

/**
 * A clause of a budget: how our rate compares with that of another server, and how it would by processor time alone.
 * @param {Load} ours
 * @param {Load} other
 * @param {number} limit
 */
export function rateBudget(ours, other, limit) {
  const share = ours.perSecond / other.perSecond;
  const byTime = other.serverTime / ours.serverTime;
  const text = `ours >= ${limit} x, is ${share.toFixed(2)} x (by processor time ${byTime.toFixed(2)} x)`;
  return { text, reached: share >= limit };
}

/** Longer than anything here takes. */
const LONG_SECONDS = 3600;

/** Without a C compiler there are no TCP clients that are quick enough. */
export const hasCompiler = spawnSync('cc', ['--version'], { stdio: 'ignore' }).error === undefined;

/**
 * Compiles the TCP clients. `load` measures for a given time; `begin` loads a port until what it gives is called, which tells
 * what was reached. `end` removes them.
 * @returns {{
 *   load: (server: Server, how: {connections: number, depth?: number, seconds: number}) => Promise<Load>,
 *   begin: (port: number, how: {connections: number, pace: number}) => {pid: number, end: () => Promise<{perSecond: number}>},
 *   end: () => void,
 * }}
 */
export function tcpClients() {
  const directory = makeTempDir();
  const binary = join(directory, 'load');
  const source = fileURLToPath(new URL('peers/load.c', import.meta.url));
  const { status, stderr } = spawnSync('cc', ['-std=gnu11', '-O2', '-o', binary, source], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return {
    begin: (port, { connections, pace }) => {
      const client = startCommand(binary, port, connections, 1, LONG_SECONDS, pace);
      const lines = createInterface(client.stdout)[Symbol.asyncIterator]();
      return {
        pid: client.pid,
        end: async () => {
          client.kill('SIGTERM');
          let told = '{}';
          for await (const line of lines) told = line;
          return JSON.parse(told);
        },
      };
    },
    load: (server, { connections, depth = 1, seconds }) => {
      const client = startCommand(binary, server.port, connections, depth, seconds);
      const lines = createInterface(client.stdout)[Symbol.asyncIterator]();
      const line = async () => {
        const { value } = await lines.next();
        if (value === undefined) throw new Error(`${server.what}: the clients ended early`);
        return value;
      };
      return loaded(server, client, line, async () => JSON.parse(await line()));
    },
    end: () => rmSync(directory, { recursive: true }),
  };
}

/** A client of REST that asks for 100 rows again and again. @returns {Promise<Load>} */
export function restLoad(server, seconds, connections) {
  const client = start('rest-client.mjs', server.port, seconds, connections);
  return loaded(
    server,
    client,
    () => message(client),
    () => message(client),
  );
}

async function loaded({ pid }, client, measuring, reported) {
  pin(client.pid, CORE.client);
  await measuring();
  const startedAt = performance.now();
  const usedBefore = processorTime(pid);
  const { requests, ...report } = await reported();
  const used = processorTime(pid) - usedBefore;
  const serverLoad = used / (performance.now() - startedAt);
  return { ...report, serverLoad, serverTime: (1000 * used) / requests };
}
