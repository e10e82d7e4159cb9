import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compileWithLibmodbus, findLibmodbus } from '../test/support/libmodbus.mjs';
import { makeTempDir, startProgram } from '../test/support/program.mjs';
import { CORE, message, pin, processorTime, start, startCommand, stop } from './processes.mjs';
import { ms, printTable } from './report.mjs';

const CONNECTIONS = 20;
const ROUNDS = 5;
const SECONDS = 1.5;
const OF_FLOOR = 0.8;
const OF_LIBMODBUS = 1;
const OF_PYMODBUS = 4;

/**
 * A server that listens.
 * @typedef {{what: string, port: number, pid: number, end: () => Promise<unknown>}} Server
 */

/** Modbus TCP: requests per second, side by side with the floor, libmodbus and pymodbus. */
export async function benchTcp() {
  const found = findLibmodbus();
  const ours = await startOurs();
  const floor = await startFloor();
  const libmodbus = found.ok ? await startLibmodbus(found.flags) : undefined;
  const python = findPymodbus();
  const pymodbus = python ? await startPymodbus(python) : undefined;
  const servers = [ours, floor, libmodbus, pymodbus].filter((server) => server !== undefined);
  for (const { pid } of servers) pin(pid, CORE.server);

  // By turns, so that what else the machine does hits all of them.
  const rounds = new Map(servers.map((server) => [server, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const server of servers) rounds.get(server).push(await load(server));
  }
  for (const { end } of servers) await end();

  const results = new Map(servers.map((server) => [server, best(rounds.get(server))]));
  const budgets = new Map([
    [floor, OF_FLOOR],
    [libmodbus, OF_LIBMODBUS],
    [pymodbus, OF_PYMODBUS],
  ]);
  printTable(
    `Modbus TCP, ${CONNECTIONS} connections, function 3 with 10 registers, one request under way on each`,
    `The floor is a bare Node net server that answers fixed bytes. By turns ${ROUNDS} x ${SECONDS} s each, the best round is shown. The\n` +
      'load comes from one other Node process; where that is at 100 % it is the limit, and the processor time of the\n' +
      'server for a request tells more.',
    ['requests/s', 'median ms', 'p99 ms', 'server µs each', 'server', 'load'],
    servers.map((server) => row(server, results.get(server), results.get(ours), budgets.get(server))),
  );
  if (!found.ok) console.log(`not compared with libmodbus: ${found.missing}`);
  if (!pymodbus)
    console.log(
      'not compared with pymodbus: it is not there (apt-get install python3-pymodbus python3-serial-asyncio)',
    );
}

function row({ what }, { perSecond, median, p99, serverLoad, serverTime, ownLoad }, ours, limit) {
  const shares = [serverLoad, ownLoad].map((share) => `${Math.round(100 * share)} %`);
  const values = [Math.round(perSecond), ms(median), ms(p99), serverTime.toFixed(1), ...shares];
  if (limit === undefined) return { what, values };
  const share = ours.perSecond / perSecond;
  const byTime = serverTime / ours.serverTime;
  const text = `ours >= ${limit} x, is ${share.toFixed(2)} x (by processor time ${byTime.toFixed(2)} x)`;
  return { what, values, budget: { text, reached: share >= limit } };
}

/** The round that the rest of the machine disturbed least. */
export function best(measured) {
  return measured.reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
}

/** What the load saw, and what the server used meanwhile. */
export async function load({ port, pid }) {
  const child = start('tcp-load.mjs', port, CONNECTIONS, SECONDS);
  pin(child.pid, CORE.client);
  await message(child);
  const startedAt = performance.now();
  const usedBefore = processorTime(pid);
  const report = await message(child);
  const used = processorTime(pid) - usedBefore;
  return {
    ...report,
    serverLoad: used / (performance.now() - startedAt),
    serverTime: (1000 * used) / report.requests,
  };
}

/** @returns {Promise<Server>} */
async function startFloor() {
  const server = start('tcp-floor.mjs');
  const { port } = await message(server);
  return { what: 'floor: net server, fixed bytes', port, pid: server.pid, end: () => stop(server) };
}

/** @returns {Promise<Server>} */
async function startOurs() {
  const device = { registers: { holding: [{ address: 0, quantity: 10, value: 4711, write: true }] } };
  const program = await startProgram({
    config: { devices: { bench: device }, lines: { lan: { tcp: { port: 0 }, units: { 1: 'bench' } } } },
  });
  return { what: 'ours', port: program.tcpPort('lan'), pid: program.pid, end: program.stop };
}

/** @returns {Promise<Server>} */
async function startLibmodbus(flags) {
  const directory = makeTempDir();
  const binary = join(directory, 'server');
  compileWithLibmodbus(fileURLToPath(new URL('peers/server.c', import.meta.url)), binary, flags);
  const server = startCommand(binary);
  const port = await firstLine(server);
  const end = async () => {
    await stop(server);
    rmSync(directory, { recursive: true });
  };
  return { what: "libmodbus' C server", port: Number(port), pid: server.pid, end };
}

/** A Python that has pymodbus' server, the system's own or another; undefined when there is none. */
function findPymodbus() {
  const script = 'import pymodbus.server.async_io';
  return ['/usr/bin/python3', 'python3'].find(
    (python) => spawnSync(python, ['-c', script], { stdio: 'ignore' }).status === 0,
  );
}

/** @returns {Promise<Server>} */
async function startPymodbus(python) {
  const server = startCommand(python, fileURLToPath(new URL('peers/pymodbus_server.py', import.meta.url)));
  const [port, version] = (await firstLine(server)).split(' ');
  return { what: `pymodbus ${version}`, port: Number(port), pid: server.pid, end: () => stop(server) };
}

/** What a server prints when it is ready, however many pieces that comes in. */
async function firstLine({ stdout }) {
  const [line] = await once(createInterface(stdout), 'line');
  return line;
}
