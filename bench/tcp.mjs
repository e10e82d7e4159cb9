import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compileWithLibmodbus, findLibmodbus } from '../test/support/libmodbus.mjs';
import { makeTempDir, startProgram } from '../test/support/program.mjs';
import { CORE, message, pin, start, startCommand, stop } from './processes.mjs';
import { ms, printTable, say } from './report.mjs';
import { hasCompiler, rateBudget, sideBySide, tcpClients } from './side-by-side.mjs';

const ROUNDS = 5;
const SECONDS = 1;
const WARM_UP = { connections: 20, depth: 8, seconds: 1 };

/**
 * What is asked of our server, against each of the others: `rate` is the least share of its rate, `median` and `p99` how
 * many times its time a request may take. Times on one machine are less certain than processor time, so both are shown.
 */
const CASES = [
  {
    title: 'Modbus TCP, 20 connections, one request under way on each',
    how: { connections: 20, seconds: SECONDS },
    rates: { floor: 1, libmodbus: 0.75, pymodbus: 2.5 },
  },
  {
    title: 'Modbus TCP, 20 connections, eight requests sent at once on each',
    how: { connections: 20, depth: 8, seconds: SECONDS },
    rates: { libmodbus: 1.15 },
  },
  {
    title: 'Modbus TCP, one connection, one request under way',
    how: { connections: 1, seconds: SECONDS },
    times: { libmodbus: { median: 1.15, p99: 1.5 } },
  },
];

/** Modbus TCP: rates and times, side by side with a bare Node server, libmodbus and pymodbus. */
export async function benchTcp() {
  if (!hasCompiler) {
    say('\nModbus TCP is not measured: there is no C compiler cc (apt-get install gcc libc6-dev)');
    return;
  }
  const clients = tcpClients();
  const found = findLibmodbus();
  const python = findPymodbus();
  const ours = await startOurs();
  const others = {
    floor: await startFloor(),
    ...(found.ok && { libmodbus: await startLibmodbus(found.flags) }),
    ...(python && { pymodbus: await startPymodbus(python) }),
  };
  const servers = [
    ours,
    await startOurs('with a rule that matches nothing here', OTHER_RULE),
    await startOurs('with manners', {}, MANNERS),
    ...Object.values(others),
  ];
  for (const { pid } of servers) pin(pid, CORE.server);
  // V8 compiles what has run often: on a busy machine only after some seconds of single requests.
  for (const server of servers) await clients.load(server, WARM_UP);
  for (const { title, how, rates = {}, times = {} } of CASES) {
    const loads = await sideBySide(servers, ROUNDS, (server) => clients.load(server, how));
    const budgetOf = (server) => {
      const [name] = Object.entries(others).find(([, other]) => other === server) ?? [];
      const limits = times[name];
      if (limits) return timeBudget(loads.get(ours), loads.get(server), limits);
      return rates[name] && rateBudget(loads.get(ours), loads.get(server), rates[name]);
    };
    printTable(
      title,
      EXPLANATION,
      COLUMNS,
      servers.map((server) => row(server, loads.get(server), budgetOf(server))),
    );
  }
  for (const { end } of servers) await end();
  clients.end();
  if (!found.ok) say(`not compared with libmodbus: ${found.missing}`);
  if (!python)
    say(
      'not compared with pymodbus: it is not there (apt-get install python3-pymodbus python3-serial-asyncio)',
    );
}

const EXPLANATION = `Function 3 with 10 registers. The floor is a bare Node net server that answers fixed bytes. By turns ${ROUNDS} x ${SECONDS} s each,
medians of the rounds. The clients are one C program; where that is at 100 % it is the limit, and the processor time
of the server for a request tells more. Requests that are sent at once have one time together.`;

const COLUMNS = ['requests/s', 'median ms', 'p99 ms', 'server µs each', 'server', 'load'];

function row({ what }, { perSecond, median, p99, serverLoad, serverTime, ownLoad }, budget) {
  const shares = [serverLoad, ownLoad].map((share) => `${Math.round(100 * share)} %`);
  const values = [Math.round(perSecond), ms(median), ms(p99), serverTime.toFixed(1), ...shares];
  return { what, values, ...(budget && { budget }) };
}

function timeBudget(ours, other, limits) {
  const shares = Object.entries(limits).map(([name, limit]) => ({
    name,
    limit,
    share: ours[name] / other[name],
  }));
  const text = shares
    .map(({ name, limit, share }) => `${name} <= ${limit} x, is ${share.toFixed(2)} x`)
    .join(', ');
  return { text: `ours: ${text}`, reached: shares.every(({ share, limit }) => share <= limit) };
}

/** A fault rule that matches no request of these clients. */
const OTHER_RULE = { faults: [{ name: 'other', when: { unit: 7 }, do: { delay: 5 } }] };

/** All manners but the pauses after a frame and a connection, which would leave requests of these clients unanswered. */
const MANNERS = {
  most: { registers: 40, bits: 256, otherwise: 3 },
  holes: 'silence',
  wholeValues: true,
  writes: 'multiple',
  sharedMemory: [['holding', 'input']],
  addresses: { first: 1 },
  sleeps: { after: '1h', wakes: 1 },
  locksUp: { on: ['function', 'address', 'value'], for: '1s' },
  firstReply: { slow: '1ms', on: 'both' },
};

/** @returns {Promise<import('./side-by-side.mjs').Server>} */
async function startFloor() {
  const server = start('tcp-floor.mjs');
  const { port } = await message(server);
  return { what: 'floor: net server, fixed bytes', port, pid: server.pid, end: () => stop(server) };
}

/** @returns {Promise<import('./side-by-side.mjs').Server>} */
async function startOurs(how = '', more = {}, manners = {}) {
  const address = manners.addresses?.first ?? 0;
  const device = { registers: { holding: [{ address, quantity: 10, value: 4711, write: true }] }, manners };
  const program = await startProgram({
    config: {
      devices: { bench: device },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'bench' } } },
      ...more,
    },
  });
  const what = how ? `ours, ${how}` : 'ours';
  return { what, port: program.tcpPort('lan'), pid: program.pid, end: program.stop };
}

/** @returns {Promise<import('./side-by-side.mjs').Server>} */
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

/** @returns {Promise<import('./side-by-side.mjs').Server>} */
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
