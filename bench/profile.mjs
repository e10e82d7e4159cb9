import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { dist, makeTempDir, startProgram } from '../test/support/program.mjs';
import { CORE, message, pin, start, stop } from './processes.mjs';
import { printTable, say } from './report.mjs';
import { sharesOf } from './rooms.mjs';
import { device } from './rtu-rounds.mjs';
import { runTime } from './run-time.mjs';
import { hasCompiler, tcpClients } from './side-by-side.mjs';

const SECONDS = 5;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 20;
const PAUSE_MS = 0.25;
/** So many at a time; between them the client looks at the clock. */
const TRANSACTIONS = 200;
const PATIENCE_MS = 20_000;
/** Rooms and functions with less than this share are told together. */
const LEAST_SHARE = 0.005;
const MOST_FUNCTIONS = 12;

/** Lines and how they are loaded. */
const LOADS = [
  { what: 'Modbus TCP, 20 connections, closed loop', line: 'lan' },
  { what: 'RTU eager, a virtual line, requests 0.25 ms apart', line: 'eager' },
  { what: 'RTU t3.5 (1.75 ms), a virtual line, requests 0.25 ms apart', line: 'fast' },
];

/** Where the processor's time goes, by a CPU profile while requests are answered. */
export async function benchProfile() {
  const columns = [];
  for (const { what, line } of LOADS) {
    if (line === 'lan' && !hasCompiler) {
      say('\nModbus TCP is not profiled: there is no C compiler cc (apt-get install gcc libc6-dev)');
      continue;
    }
    columns.push({ what, ...(await profiled(line)) });
  }
  const rooms = new Set(columns.flatMap((column) => [...column.rooms.keys()]));
  const shown = [...rooms].filter((room) => columns.some((column) => shareIn(column, room) >= LEAST_SHARE));
  const rest = (column) => 1 - shown.reduce((sum, room) => sum + shareIn(column, room), 0);
  printTable(
    'Where the time goes, by rooms of the program',
    `${columns.map(({ what }, i) => `${i + 1}: ${what}`).join('\n')}\n` +
      `Shares of the samples of a CPU profile (200 µs) while the program worked, ${SECONDS} s each. Its own time is left out.`,
    columns.map((_, i) => String(i + 1)),
    [
      ...shown.map((room) => ({
        what: room,
        values: columns.map((column) => percent(shareIn(column, room))),
      })),
      { what: 'all others', values: columns.map((column) => percent(rest(column))) },
      {
        what: 'processor time of a request without the profiler, µs',
        values: columns.map(({ time }) => time.toFixed(1)),
      },
    ],
  );
  for (const { what, functions } of columns) {
    printTable(
      `The functions that take most: ${what}`,
      'Their own time, without that of what they call.',
      ['share'],
      [...functions]
        .slice(0, MOST_FUNCTIONS)
        .map(([name, share]) => ({ what: name, values: [percent(share)] })),
    );
  }
}

const shareIn = ({ rooms }, room) => rooms.get(room) ?? 0;
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** Starts the program, loads one of its lines, and reads the profile. */
async function profiled(name) {
  const directory = makeTempDir();
  const file = join(directory, 'profile.json');
  const program = await startProgram({
    config,
    env: { NODE_OPTIONS: `--import ${new URL('profiler.mjs', import.meta.url)}`, BENCH_PROFILE: file },
  });
  pin(program.pid, CORE.server);
  const load = name === 'lan' ? tcpLoad(program) : await rtuLoad(program, name);
  await load.run(WARM_UP_SECONDS);
  const before = runTime(program.pid);
  const requests = await load.run(SECONDS);
  const time = (runTime(program.pid) - before) / requests;
  process.kill(program.pid, 'SIGUSR2');
  await load.run(SECONDS);
  process.kill(program.pid, 'SIGUSR2');
  const profile = await written(file);
  await load.end();
  await program.stop();
  rmSync(directory, { recursive: true });
  return { ...sharesOf(profile, pathToFileURL(dist).href), time };
}

/** Writing a profile takes seconds on a busy machine. */
async function written(file) {
  for (const deadline = performance.now() + PATIENCE_MS; ; await sleep(200)) {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

const serial = (turnaround) => ({
  serial: { path: 'virtual', baudRate: 115200, parity: 'none' },
  timing: { turnaround },
  units: { 1: 'bench' },
});

const config = {
  devices: { bench: device },
  lines: { eager: serial('eager'), fast: serial('t3.5'), lan: { tcp: { port: 0 }, units: { 1: 'bench' } } },
};

/** Both loads tell how many requests were answered. */
function tcpLoad(program) {
  const clients = tcpClients();
  const server = { what: 'profile', port: program.tcpPort('lan'), pid: program.pid };
  const run = async (seconds) => {
    const { perSecond } = await clients.load(server, { connections: CONNECTIONS, seconds });
    return perSecond * seconds;
  };
  return { run, end: clients.end };
}

async function rtuLoad(program, name) {
  const client = start('rtu-client.mjs', program.serialPath(name));
  await message(client);
  pin(client.pid, CORE.client);
  const run = async (seconds) => {
    const end = performance.now() + 1000 * seconds;
    let requests = 0;
    while (performance.now() < end) {
      const told = message(client);
      client.send({ transactions: TRANSACTIONS, pause: PAUSE_MS });
      await told;
      requests += TRANSACTIONS;
    }
    return requests;
  };
  return { run, end: () => stop(client) };
}
