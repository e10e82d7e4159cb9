import { startProgram } from '../test/support/program.mjs';
import { INSIDE } from './growth-points.mjs';
import { PUBLISHED } from './pi.mjs';
import { CORE, comeFirst, message, pin, start, stop } from './processes.mjs';
import { median, printTable, say } from './report.mjs';
import { device } from './rtu-rounds.mjs';
import { runTime } from './run-time.mjs';
import { hasCompiler, tcpClients } from './side-by-side.mjs';

const ROUNDS = 5;
const CONNECTIONS = 20;
const SECONDS = 1;
const RTU = { pause: 4, transactions: 150 };

/**
 * How fast this machine is, by work that is always the same, and what a request costs it. With the published results of
 * other benchmarks, a prediction for a Raspberry Pi 4.
 */
export async function benchCalibrate() {
  const work = await asked('calibration.mjs', [], {});
  printTable(
    'Calibration: the same work on every machine, µs of processor time',
    'Divide the figures of two machines with the same version of Node to compare them.',
    ['µs'],
    Object.entries(work).map(([what, time]) => ({ what, values: [time] })),
  );
  const costs = await costsHere();
  const times = PUBLISHED.map(({ what, pi, source, here }) => ({ what, pi, source, here: here() }));
  const known = times.filter(({ here }) => here !== undefined);
  printTable(
    'This machine and a Raspberry Pi 4 at 1.5 GHz',
    `The Pi's figures are published, by ${times.map(({ source }) => source).join('; and by ')}.`,
    ['here', 'Pi 4', 'times'],
    times.map(({ what, pi, here }) => ({
      what,
      values: here === undefined ? ['-', pi, '-'] : [here.toFixed(0), pi, (here / pi).toFixed(2)],
    })),
  );
  if (known.length < PUBLISHED.length) {
    say('For a prediction, install what is missing: apt-get install 7zip sysbench');
  }
  const range = known.map(({ here, pi }) => here / pi).toSorted((a, b) => a - b);
  const [least, most] = [range[0], range.at(-1)];
  printTable(
    'What a request costs: processor time in µs. NOT MEASURED for the Pi: a prediction',
    'The prediction is the time here, times the least and the most of the ratios above. It knows nothing of the caches, the\n' +
      'memory and the system calls of a Pi, so a request may well take longer there.',
    ['here', 'Pi 4, predicted', 'requests/s of one core'],
    costs.map(({ what, time }) => ({
      what,
      values:
        least === undefined || most === undefined
          ? [time.toFixed(1), '-', '-']
          : [
              time.toFixed(1),
              `${(time * least).toFixed(0)} to ${(time * most).toFixed(0)}`,
              `${Math.round(1e6 / (time * most))} to ${Math.round(1e6 / (time * least))}`,
            ],
    })),
  );
}

/** Starts a program beside this file, asks it once, and ends it. */
async function asked(name, args, question) {
  const child = start(name, ...args);
  await message(child);
  pin(child.pid, CORE.server);
  comeFirst(child.pid);
  const told = message(child);
  child.send(question);
  const answer = await told;
  await stop(child);
  return answer;
}

/** Processor time of the server for a request of each kind, medians of the rounds. */
async function costsHere() {
  const points = INSIDE[0].points.slice(0, 1);
  const { costs } = await asked('growth-inside.mjs', [], { points, requests: 8000, rounds: 11 });
  const inside = { what: 'our own work alone, without a socket', time: median(costs[0]) };
  const serial = (turnaround) => ({
    serial: { path: 'virtual', baudRate: 115200, parity: 'none' },
    timing: { turnaround },
    units: { 1: 'bench' },
  });
  const program = await startProgram({
    config: {
      devices: { bench: device },
      lines: {
        lan: { tcp: { port: 0 }, units: { 1: 'bench' } },
        eager: serial('eager'),
        fast: serial('t3.5'),
      },
    },
  });
  pin(program.pid, CORE.server);
  comeFirst(program.pid);
  const found = [inside];
  if (hasCompiler) found.push(await tcpCost(program));
  for (const line of ['eager', 'fast']) found.push(await rtuCost(program, line));
  await program.stop();
  return found;
}

async function tcpCost(program) {
  const clients = tcpClients();
  const server = { what: 'ours', port: program.tcpPort('lan'), pid: program.pid };
  const times = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const { serverTime } = await clients.load(server, { connections: CONNECTIONS, seconds: SECONDS });
    if (round > 0) times.push(serverTime);
  }
  clients.end();
  return { what: `Modbus TCP, ${CONNECTIONS} connections`, time: median(times) };
}

async function rtuCost(program, line) {
  const client = start('rtu-client.mjs', program.serialPath(line));
  await message(client);
  pin(client.pid, CORE.client);
  const times = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const before = runTime(program.pid);
    const told = message(client);
    client.send(RTU);
    await told;
    if (round > 0) times.push((runTime(program.pid) - before) / RTU.transactions);
  }
  await stop(client);
  const way = line === 'fast' ? 't3.5 (1.75 ms)' : line;
  return { what: `RTU ${way}, a virtual line, ${RTU.pause} ms apart`, time: median(times) };
}
