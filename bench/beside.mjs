import { setTimeout as sleep } from 'node:timers/promises';
import { startProgram } from '../test/support/program.mjs';
import { besideLoads } from './beside-loads.mjs';
import { CORE, comeFirst, message, pin, start, stop } from './processes.mjs';
import { median, ms, printTable, say, spread } from './report.mjs';
import { device, figures, measure, nothing, ROUNDS, t35Of } from './rtu-rounds.mjs';
import { runTime } from './run-time.mjs';
import { hasCompiler, tcpClients } from './side-by-side.mjs';

/** The cores of the server, and how many times the idle figures are allowed there. */
const PLACES = [
  { cores: `${CORE.server},${CORE.client}`, what: 'server on two cores', p99: 1.5, median: 1.1 },
  { cores: `${CORE.server}`, what: 'server on one core', p99: 2, median: 1.2 },
];
/** Loads have begun by then. */
const SETTLE_MS = 700;
const ASKED = { pause: 2, transactions: 200 };
/** Enough for a capture of 10 MB. */
const EVENTS = 120_000;
/** The steps of a test with a report of 5 MB: each keeps 40 frames, and REST takes no longer scenario. */
const STEPS = 250;

/** The lines that are measured, one after the other. */
const LINES = [
  { name: 'eager', baudRate: 115200, turnaround: 'eager', due: 0 },
  { name: 'fast', baudRate: 115200, turnaround: 't3.5', due: t35Of(115200) },
  { name: 'slow', baudRate: 9600, turnaround: 't3.5', due: t35Of(9600) },
];

/**
 * What was measured on a line beside one load.
 * @typedef {import('./rtu-rounds.mjs').Measured & {own: number[]}} Beside
 *   `own`: from the last byte of a request to the first of its reply by the clock of the server, ms
 */

/** RTU turnaround beside everything else that the simulator may have to do, each and all together. */
export async function benchBeside() {
  for (const place of PLACES) await benchOn(place);
}

async function benchOn(place) {
  const clients = hasCompiler ? tcpClients() : undefined;
  if (!clients) say('\nno TCP clients beside RTU: there is no C compiler cc (apt-get install gcc libc6-dev)');
  const program = await startProgram({ config });
  pin(program.pid, place.cores);
  comeFirst(program.pid);
  const lines = [];
  for (const line of LINES) lines.push(await clientOf(line, program));
  const url = program.restUrl();
  const port = program.tcpPort('lan');
  const report = await makeReport(url, port, clients);
  const idle = { what: 'idle', begin: () => [] };
  const loads = [idle, ...besideLoads({ url, port, report, clients })];
  const bench = { program, lines, url };
  // V8 compiles what all of them need.
  for (const load of loads) await oneRound(newSide(load, lines), bench);
  const sides = loads.map((load) => newSide(load, lines));
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of sides) await oneRound(side, bench);
  }
  for (const { client } of lines) await stop(client);
  await program.stop();
  clients?.end();
  lines.forEach((line, i) => {
    printLine(line, i, sides, place);
  });
  printLoads(sides.slice(1), place);
}

const config = {
  devices: { bench: device },
  lines: {
    ...Object.fromEntries(
      LINES.map(({ name, baudRate, turnaround }) => [
        name,
        {
          serial: { path: 'virtual', baudRate, parity: 'none' },
          timing: { turnaround },
          units: { 1: 'bench' },
        },
      ]),
    ),
    lan: { tcp: { port: 0 }, units: { 1: 'bench' } },
  },
  traffic: { events: EVENTS },
};

async function clientOf(line, program) {
  const client = start('rtu-client.mjs', program.serialPath(line.name));
  await message(client);
  pin(client.pid, CORE.client);
  comeFirst(client.pid);
  return { ...line, client };
}

/**
 * Fills what is kept of the traffic, and makes a test with a long report.
 * @returns {Promise<string>} the path of the report
 */
async function makeReport(url, port, clients) {
  const steps = Array.from({ length: STEPS }, () => ({ expect: { unit: 1, times: 40 } }));
  const started = await fetch(`${url}/api/v1/runs?kind=scenario`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'a long test', line: 'lan', steps }),
  });
  if (started.status !== 201) throw new Error(await started.text());
  const { id } = await started.json();
  const path = `/api/v1/runs/${id}`;
  const load = clients ? clients.begin(port, { connections: 20, pace: 0 }) : pacedLoad(port);
  for (let isOver = false; !isOver; ) {
    await sleep(500);
    const { lastSeq, tests } = await state(url);
    isOver = lastSeq > EVENTS && tests.every(({ state }) => state === 'over');
  }
  await load.end();
  return `${path}/report.html`;
}

/** Without a C compiler: this takes a minute. */
function pacedLoad(port) {
  const load = start('paced-load.mjs', port, 4000);
  return { end: () => stop(load) };
}

async function state(url) {
  const { last } = await (await fetch(`${url}/api/v1/traffic?limit=1`)).json();
  const { runs: tests } = await (await fetch(`${url}/api/v1/runs?kind=scenario`)).json();
  return { lastSeq: last, tests };
}

function newSide(load, lines) {
  return { ...load, measured: lines.map(() => ({ ...nothing(), own: [] })), was: [], busy: [] };
}

/** Measures each line beside one load. */
async function oneRound({ begin, measured, was, busy }, { program, lines, url }) {
  const ends = begin();
  await sleep(SETTLE_MS);
  const { lastSeq } = await state(url);
  const [used, startedAt] = [runTime(program.pid), performance.now()];
  for (const [i, line] of lines.entries()) {
    await measure({ client: line.client, pid: program.pid }, ASKED, measured[i]);
  }
  busy.push((runTime(program.pid) - used) / 1000 / (performance.now() - startedAt));
  was.push(await Promise.all(ends.map((end) => end())));
  for (const [i, { name }] of lines.entries()) measured[i].own.push(...(await ownTimes(url, name, lastSeq)));
}

/** What the simulator has kept of the replies of a line after the event `after`: its own turnaround, ms. */
async function ownTimes(url, line, after) {
  const query = `line=${line}&kind=reply&after=${after}&limit=${ASKED.transactions}`;
  const { events } = await (await fetch(`${url}/api/v1/traffic?${query}`)).json();
  return events.map(({ responseTimeUs }) => responseTimeUs / 1000);
}

function printLine({ baudRate, turnaround, due }, i, sides, place) {
  const after = due > 0 ? `, after t3.5 (${ms(due)})` : '';
  const late = (samples) => spread(samples.map((sample) => sample - due));
  const calm = late(sides[0].measured[i].samples).p99;
  const calmMedian = figures(sides[0].measured[i]).median;
  const calmOwn = late(sides[0].measured[i].own).p99;
  printTable(
    `RTU turnaround beside other work, ${place.what}, virtual line, ${turnaround} at ${baudRate}; ms${after}`,
    `${ROUNDS} x ${ASKED.transactions} requests each, by turns; the median is that of the rounds' medians. By the clock of the client, from writing a\n` +
      'request to having the first byte of the reply; and by the clock of the server, from having read the request to writing the\n' +
      "reply. What keeps the server's event loop from reading is in the first only, and so is what other programs take from both.",
    ['median', 'p99', 'max', "server's median", "server's p99", 'lost'],
    sides.map(({ what, measured, withoutBudget }, row) => {
      const { samples, own } = measured[i];
      const { p99, max } = late(samples);
      const server = late(own);
      const times = p99 / calm;
      const ownTimes = server.p99 / calmOwn;
      const { median: middle, lost } = figures(measured[i]);
      // With t3.5: that much is waited for with and without other work.
      const middleTimes = middle / calmMedian;
      const text =
        `median <= ${place.median} x, is ${middleTimes.toFixed(2)}; p99 <= ${place.p99} x, is ` +
        `${times.toFixed(2)} (by the server ${ownTimes.toFixed(2)})`;
      const reached = times <= place.p99 && middleTimes <= place.median;
      return {
        what,
        values: [ms(middle - due), ms(p99), ms(max), ...ownFigures(server), lost],
        ...(row > 0 && !withoutBudget && { budget: { text, reached } }),
      };
    }),
  );
}

/** Beside clients as fast as they can be, the program has given up the events until they are read. */
function ownFigures({ median, p99 }) {
  return [median, p99].map((time) => (Number.isNaN(time) ? '-' : ms(time)));
}

function printLoads(sides, { what }) {
  printTable(
    `What that other work was, ${what}`,
    'In the middle round by the server’s processor time, as a share of one core.',
    ['server', 'reached'],
    sides.map(({ what, was, busy }) => {
      const middle = median(busy);
      return {
        what,
        values: [`${(100 * middle).toFixed(0)} %`, was[busy.indexOf(middle)].join('; ')],
      };
    }),
  );
}
