import { dist, startProgram } from '../test/support/program.mjs';
import { CORE, message, pin, start, stop } from './processes.mjs';
import { ms, printTable, spread } from './report.mjs';

const ROUNDS = 4;
const TRANSACTIONS_A_ROUND = 500;
const REST_PER_SECOND = 500;
/** How late the median may be after t3.5. */
const LATE_MS = 0.5;
const EAGER_TIMES_FLOOR = 1.3;
const LOADED_TIMES_IDLE = 2;

const T35 = { 9600: 38_500 / 9600, 115200: 1.75 };
const device = { registers: { holding: [{ address: 0, quantity: 10, value: 4711, write: true }] } };

/**
 * A server with its client, and what was measured.
 * @typedef {object} Contender
 * @property {string} what
 * @property {import('node:child_process').ChildProcess} client
 * @property {() => Promise<unknown>} end
 * @property {number[]} samples ms
 * @property {number} lost
 */

/** RTU turnaround: how long after a request the answer begins. */
export async function benchRtu() {
  const rows = [];
  for (const baudRate of [115200, 9600]) rows.push(...(await eagerRows(baudRate)));
  for (const baudRate of [115200, 9600]) rows.push(...(await onTimeRows(baudRate)));
  rows.push(...(await restRows(115200)));
  printTable(
    `RTU turnaround, ${ROUNDS * TRANSACTIONS_A_ROUND} x function 3 with 10 registers; ms from writing the request to the first byte of the answer`,
    'A terminal: the client has the master side of a pseudo-terminal, the server opens the other side through serialport;\n' +
      'that is where the floor is. A virtual line: the simulator has the master side, without serialport. Neither has a\n' +
      `baud rate: the wire takes no time. Those of one baud rate by turns, ${TRANSACTIONS_A_ROUND} each. Early: answers before t3.5.`,
    ['median', 'p99', 'max', 'early', 'lost'],
    rows,
  );
}

async function eagerRows(baudRate) {
  const [floor, ...ours] = await byTurns([
    await floorAtTerminal(baudRate),
    await oursAtTerminal(baudRate, 'eager'),
    await oursAtVirtualLine(baudRate, 'eager'),
  ]);
  const floorMedian = spread(floor.samples).median;
  const budget = ({ median }) => times(median, floorMedian, EAGER_TIMES_FLOOR, 'median');
  return [row(floor), ...ours.map((each) => row(each, undefined, budget))];
}

async function onTimeRows(baudRate) {
  const t35 = T35[baudRate];
  const text = `0 early, median <= ${ms(t35 + LATE_MS)}`;
  const budget = ({ median, early }) => ({ text, reached: early === 0 && median <= t35 + LATE_MS });
  const contenders = [await oursAtTerminal(baudRate, 't3.5'), await oursAtVirtualLine(baudRate, 't3.5')];
  return (await byTurns(contenders)).map((each) => row(each, t35, budget));
}

async function restRows(baudRate) {
  const t35 = T35[baudRate];
  const [idle] = await byTurns([await oursAtVirtualLine(baudRate, 't3.5')]);
  const contender = await oursAtVirtualLine(baudRate, 't3.5');
  const load = start('rest-load.mjs', contender.program.restUrl(), REST_PER_SECOND);
  pin(load.pid, CORE.client);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const loaded = (await byTurns([{ ...contender, end: async () => {} }]))[0];
  const told = message(load);
  load.kill('SIGTERM');
  const { perSecond } = await told;
  await contender.end();
  const idleP99 = spread(idle.samples).p99;
  return [
    row({ ...idle, what: `ours, virtual line, t3.5, ${baudRate}, idle` }, t35),
    row({ ...loaded, what: `the same under ${Math.round(perSecond)} REST requests/s` }, t35, ({ p99 }) =>
      times(p99, idleP99, LOADED_TIMES_IDLE, 'p99'),
    ),
  ];
}

/** Measures round by round, so that what else the machine does hits all contenders; then ends them. */
async function byTurns(contenders) {
  for (let round = 0; round < ROUNDS; round++) {
    for (const contender of contenders) {
      const told = message(contender.client);
      contender.client.send(TRANSACTIONS_A_ROUND);
      const { samples, lost } = await told;
      contender.samples.push(...samples);
      contender.lost += lost;
    }
  }
  for (const { end } of contenders) await end();
  return contenders;
}

function row({ what, samples, lost }, t35, budgetOf) {
  const { median, p99, max } = spread(samples);
  const early = t35 === undefined ? undefined : samples.filter((sample) => sample < t35).length;
  const values = [ms(median), ms(p99), ms(max), early ?? '', lost];
  return { what, values, budget: budgetOf?.({ median, p99, early }) };
}

/** @returns {{text: string, reached: boolean}} */
function times(measured, reference, limit, name) {
  const text = `${name} <= ${limit} x, is ${(measured / reference).toFixed(2)} x`;
  return { text, reached: measured <= limit * reference };
}

async function floorAtTerminal(baudRate) {
  const client = start('rtu-client.mjs', 'master', T35[baudRate], dist);
  const { path } = await message(client);
  const floor = start('rtu-floor.mjs', path);
  await message(floor);
  return contender(`floor: serialport answers at the 8th byte, ${baudRate}`, client, floor.pid, () =>
    stop(floor),
  );
}

async function oursAtTerminal(baudRate, turnaround) {
  const client = start('rtu-client.mjs', 'master', T35[baudRate], dist);
  const { path } = await message(client);
  const program = await startOurs(path, baudRate, turnaround);
  // A port may be opened in the middle of a frame, so it waits for a silence first.
  await new Promise((resolve) => setTimeout(resolve, 200));
  return contender(`ours on a terminal, ${turnaround}, ${baudRate}`, client, program.pid, program.stop);
}

async function oursAtVirtualLine(baudRate, turnaround) {
  const program = await startOurs('virtual', baudRate, turnaround);
  const client = start('rtu-client.mjs', program.serialPath('bench'), T35[baudRate], dist);
  await message(client);
  return {
    ...contender(`ours, virtual line, ${turnaround}, ${baudRate}`, client, program.pid, program.stop),
    program,
  };
}

/** @returns {Contender} */
function contender(what, client, serverPid, stopServer) {
  pin(client.pid, CORE.client);
  pin(serverPid, CORE.server);
  const end = async () => {
    await stopServer();
    await stop(client);
  };
  return { what, client, end, samples: [], lost: 0 };
}

function startOurs(path, baudRate, turnaround) {
  const serial = { path, baudRate, parity: 'none' };
  return startProgram({
    config: {
      devices: { bench: device },
      lines: { bench: { serial, timing: { turnaround }, units: { 1: 'bench' } } },
    },
  });
}
