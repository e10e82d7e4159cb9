import { dist, startProgram } from '../test/support/program.mjs';
import { message, start, stop } from './processes.mjs';
import { ms, printTable, spread } from './report.mjs';

const TRANSACTIONS = 2000;
const REST_PER_SECOND = 500;
/** How late the median may be after t3.5. */
const LATE_MS = 0.5;
const EAGER_TIMES_FLOOR = 1.3;
const LOADED_TIMES_IDLE = 2;

const T35 = { 9600: 38_500 / 9600, 115200: 1.75 };
const device = { registers: { holding: [{ address: 0, quantity: 10, value: 4711, write: true }] } };

/** RTU turnaround: how long after a request the answer begins. */
export async function benchRtu() {
  const rows = [];
  const add = (what, { samples, lost }, t35, budgetOf) => {
    const { median, p99, max } = spread(samples);
    const early = t35 === undefined ? '' : samples.filter((sample) => sample < t35).length;
    rows.push({
      what,
      values: [ms(median), ms(p99), ms(max), early, lost],
      budget: budgetOf?.({ median, p99, early }),
    });
    return { median, p99 };
  };

  const floor = add('floor: a serialport that answers at the 8th byte', await floorAtTerminal());
  const eagerBudget = ({ median }) => times(median, floor.median, EAGER_TIMES_FLOOR, 'median');
  const onTimeBudget =
    (t35) =>
    ({ median, early }) => ({
      text: `0 early, median <= ${ms(t35 + LATE_MS)}`,
      reached: early === 0 && median <= t35 + LATE_MS,
    });
  for (const baudRate of [115200, 9600]) {
    add(
      `ours on a terminal, eager, ${baudRate}`,
      await oursAtTerminal(baudRate, 'eager'),
      undefined,
      eagerBudget,
    );
    add(
      `ours, virtual line, eager, ${baudRate}`,
      await oursAtVirtualLine(baudRate, 'eager'),
      undefined,
      eagerBudget,
    );
  }
  for (const baudRate of [115200, 9600]) {
    const t35 = T35[baudRate];
    const budget = onTimeBudget(t35);
    add(`ours on a terminal, t3.5, ${baudRate}`, await oursAtTerminal(baudRate, 't3.5'), t35, budget);
    const idle = add(
      `ours, virtual line, t3.5, ${baudRate}`,
      await oursAtVirtualLine(baudRate, 't3.5'),
      t35,
      budget,
    );
    if (baudRate !== 115200) continue;
    const loaded = await oursAtVirtualLine(baudRate, 't3.5', REST_PER_SECOND);
    const what = `the same under ${Math.round(loaded.restPerSecond)} REST requests/s`;
    add(what, loaded, t35, ({ p99 }) => times(p99, idle.p99, LOADED_TIMES_IDLE, 'p99'));
  }

  printTable(
    `RTU turnaround, ${TRANSACTIONS} x function 3 with 10 registers; ms from writing the request to the first byte of the answer`,
    'A terminal: the client has the master side of a pseudo-terminal, the server opens the other side through serialport;\n' +
      'that is where the floor is. A virtual line: the simulator has the master side, without serialport. Neither has a\n' +
      'baud rate: the wire takes no time. Early: answers before t3.5.',
    ['median', 'p99', 'max', 'early', 'lost'],
    rows,
  );
}

/** @returns {{text: string, reached: boolean}} */
function times(measured, reference, limit, name) {
  return {
    text: `${name} <= ${limit} x, is ${(measured / reference).toFixed(2)} x`,
    reached: measured <= limit * reference,
  };
}

async function floorAtTerminal() {
  const client = start('rtu-client.mjs', 'master', TRANSACTIONS, T35[115200], dist);
  const { path } = await message(client);
  const floor = start('rtu-floor.mjs', path);
  await message(floor);
  const measured = await measure(client);
  await stop(floor);
  return measured;
}

async function oursAtTerminal(baudRate, turnaround) {
  const client = start('rtu-client.mjs', 'master', TRANSACTIONS, T35[baudRate], dist);
  const { path } = await message(client);
  const program = await startOurs(path, baudRate, turnaround);
  // A real port may be opened in the middle of a frame, so it waits for a silence first.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const measured = await measure(client);
  await program.stop();
  return measured;
}

async function oursAtVirtualLine(baudRate, turnaround, restPerSecond) {
  const program = await startOurs('virtual', baudRate, turnaround);
  const client = start('rtu-client.mjs', program.serialPath('bench'), TRANSACTIONS, T35[baudRate], dist);
  await message(client);
  const load = restPerSecond && start('rest-load.mjs', program.restUrl(), restPerSecond);
  if (load) await new Promise((resolve) => setTimeout(resolve, 1000));
  const measured = await measure(client);
  const told = load && message(load);
  if (load) load.kill('SIGTERM');
  const reached = load && (await told).perSecond;
  await program.stop();
  return { ...measured, restPerSecond: reached };
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

async function measure(client) {
  const measured = message(client);
  client.send('go');
  return await measured;
}
