import { startProgram } from '../test/support/program.mjs';
import { CORE, message, pin, start, stop } from './processes.mjs';
import { ms, printTable, spread } from './report.mjs';

const TRANSACTIONS = 200;
const BAUD_RATE = 115200;
/** t3.5 above 19200 baud, in ms. */
const T35 = 1.75;
const LATE_MS = 1;
const US_PER_MS = 1000;

/** What is waited for: before the reply (its step 0), or between its pieces (step 1). */
const WAITS = [
  { what: 'delay 5 ms', faults: [{ delay: 5 }], step: 0 },
  { what: 'delay 50 ms', faults: [{ delay: 50 }], step: 0 },
  { what: 'delay 250 ms', faults: [{ delay: 250 }], step: 0 },
  { what: 'split, gap 20 ms', faults: [{ split: { at: 'middle', gap: 20 } }], step: 1 },
];

const LINES = [
  { what: 'unpaced', serial: {} },
  { what: 'paced', serial: { pacing: { chunk: 1 } } },
];

/** Waits of faults: how far the moment that was achieved is from the one that was planned. */
export async function benchDelays() {
  const rows = [];
  for (const line of LINES) rows.push(...(await rowsOf(line)));
  printTable(
    `Waits of fault rules, ${TRANSACTIONS} x function 3 with 10 registers each, virtual line at ${BAUD_RATE} baud`,
    'ms between the planned and the achieved time of a step, as GET /api/v1/exchanges tells them. Early: achieved\n' +
      'before it was planned.',
    ['median', 'p99', 'max', 'early', 'lost'],
    rows,
  );
}

async function rowsOf({ what: lineName, serial }) {
  const program = await startProgram({
    config: {
      devices: { bench: { registers: { holding: [{ address: 0, quantity: 10, value: 4711 }] } } },
      lines: {
        bench: {
          serial: { path: 'virtual', baudRate: BAUD_RATE, parity: 'none', ...serial },
          units: { 1: 'bench' },
        },
      },
    },
  });
  pin(program.pid, CORE.server);
  const client = start('rtu-client.mjs', program.serialPath('bench'));
  await message(client);
  pin(client.pid, CORE.client);
  const rows = [];
  for (const { what, faults, step } of WAITS) {
    const { deviations, lost } = await measure(program.restUrl(), client, faults, step);
    const { median, p99, max } = spread(deviations.map(Math.abs));
    const early = deviations.filter((deviation) => deviation < 0).length;
    rows.push({
      what: `${lineName}, ${what}`,
      values: [ms(median), ms(p99), ms(max), early, lost],
      budget: { text: `median <= ${LATE_MS} ms`, reached: median <= LATE_MS },
    });
  }
  await stop(client);
  await program.stop();
  return rows;
}

/** Achieved minus planned time in ms of one step of each exchange, and how many requests were not answered. */
async function measure(url, client, faults, step) {
  await ask(`${url}/api/v1/faults/bench`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ do: faults }),
  });
  const told = message(client);
  client.send({ transactions: TRANSACTIONS, pause: T35 + LATE_MS });
  const { lost } = await told;
  const { exchanges } = await ask(`${url}/api/v1/exchanges?limit=${TRANSACTIONS}`);
  const deviations = exchanges
    .map(({ steps }) => steps[step])
    .filter((each) => each?.outcome === 'achieved')
    .map(({ plannedUs, achievedUs }) => (achievedUs - plannedUs) / US_PER_MS);
  return { deviations, lost };
}

async function ask(url, options) {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
  return response.json();
}
