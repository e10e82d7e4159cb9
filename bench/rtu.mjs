import { writeFileSync } from 'node:fs';
import { startProgram } from '../test/support/program.mjs';
import { latenessPlot } from './plot.mjs';
import { message, start, stop } from './processes.mjs';
import { machine, ms, printTable, spread } from './report.mjs';
import { byTurns, contender, device, figures, measure, nothing, ROUNDS, t35Of } from './rtu-rounds.mjs';

/** Times of the floor that an eager reply may take. */
const EAGER_MEDIAN = 1.15;
const EAGER_P99 = 1.3;
/** How late after t3.5, in ms. */
const LATE_MEDIAN = 0.25;
const LATE_P99 = 1.5;

/** Requests a round, and how long after a reply the next one comes, in ms. */
const PAUSES = [
  { pause: 0.25, transactions: 500 },
  { pause: 4, transactions: 150 },
  { pause: 20, transactions: 50 },
];
const ON_TIME = { pause: 4, transactions: 100 };
/** Not counted: a program that has just started compiles what it runs. */
const WARM_UP = { pause: 0.25, transactions: 500 };

const BAUD_RATES = [9600, 19200, 38400, 57600, 115200];

/** RTU turnaround: how long after a request the answer begins. */
export async function benchRtu() {
  await benchEager();
  const onTime = await benchOnTime();
  const file = process.env.MODBUS_SIM_PLOT;
  if (file !== undefined) writeFileSync(file, latenessPlot(onTime, machine()));
}

async function benchEager() {
  const contenders = [
    await floorAtTerminal(),
    await oursAtTerminal(115200, 'eager'),
    await oursAtVirtualLine(115200, 'eager'),
  ];
  const rows = [];
  for (const { pause, transactions } of PAUSES) {
    const measured = await byTurns(contenders, { pause, transactions });
    const floor = figures(measured[0]);
    contenders.forEach(({ what }, i) => {
      const { median, p99, max, time, lost } = figures(measured[i]);
      const values = [ms(median), ms(p99), ms(max), Math.round(time), lost];
      const times = [median / floor.median, p99 / floor.p99];
      const text = `median <= ${EAGER_MEDIAN} x, is ${times[0].toFixed(2)}; p99 <= ${EAGER_P99} x, is ${times[1].toFixed(2)}`;
      const reached = times[0] <= EAGER_MEDIAN && times[1] <= EAGER_P99;
      rows.push({ what: `${what}, ${pause} ms apart`, values, ...(i > 0 && { budget: { text, reached } }) });
    });
  }
  for (const { end } of contenders) await end();
  printTable(
    'RTU turnaround, eager, function 3 with 10 registers; ms from writing the request to the first byte of the answer',
    'The floor is a bare serialport that answers fixed bytes at the 8th byte. A terminal: the client has the master side of\n' +
      'a pseudo-terminal, the server opens the other side, as a real port. A virtual line: the simulator has the master\n' +
      `side. Neither has a baud rate: the wire takes no time. By turns ${ROUNDS} rounds; the median is that of the rounds' medians.`,
    ['median', 'p99', 'max', 'server µs each', 'lost'],
    rows,
  );
}

/** @returns {Promise<{name: string, late: number[]}[]>} how late each reply was, in ms */
async function benchOnTime() {
  const contenders = [];
  for (const baudRate of BAUD_RATES) {
    contenders.push({ baudRate, ...(await oursAtVirtualLine(baudRate, 't3.5')) });
  }
  for (const baudRate of [9600, 115200]) {
    contenders.push({ baudRate, ...(await oursAtTerminal(baudRate, 't3.5')) });
  }
  for (const each of contenders) await measure(each, WARM_UP, nothing());
  const measured = await byTurns(contenders, ON_TIME);
  for (const { end } of contenders) await end();
  const series = contenders.map(({ what, baudRate }, i) => ({
    name: what,
    late: measured[i].samples.map((sample) => sample - t35Of(baudRate)),
  }));
  printTable(
    `RTU turnaround, t3.5, ${ROUNDS} x ${ON_TIME.transactions} requests each after ${WARM_UP.transactions} that are not counted; ms after t3.5`,
    'Late by the clock of the client, which counts from writing the request to having the first byte: the way of both through\n' +
      'the kernel is in it. Early: answers before t3.5.',
    ['t3.5', 'median late', 'p99 late', 'max late', 'early', 'server µs each', 'lost'],
    series.map(({ name, late }, i) => {
      const { median, p99, max } = spread(late);
      const early = late.filter((each) => each < 0).length;
      const { time, lost } = figures(measured[i]);
      return {
        what: name,
        values: [
          ms(t35Of(contenders[i].baudRate)),
          ms(median),
          ms(p99),
          ms(max),
          early,
          Math.round(time),
          lost,
        ],
        budget: {
          text: `0 early, median <= ${LATE_MEDIAN}, p99 <= ${LATE_P99}`,
          reached: early === 0 && median <= LATE_MEDIAN && p99 <= LATE_P99,
        },
      };
    }),
  );
  return series;
}

async function floorAtTerminal() {
  const client = start('rtu-client.mjs', 'master');
  const { path } = await message(client);
  const floor = start('rtu-floor.mjs', path);
  await message(floor);
  return contender('floor: serialport answers at the 8th byte', client, floor.pid, () => stop(floor));
}

async function oursAtTerminal(baudRate, turnaround) {
  const client = start('rtu-client.mjs', 'master');
  const { path } = await message(client);
  const program = await startOurs(path, baudRate, turnaround);
  // A port may be opened in the middle of a frame, so it waits for a silence first.
  await new Promise((resolve) => setTimeout(resolve, 200));
  return contender(`ours on a terminal, ${turnaround}, ${baudRate}`, client, program.pid, program.stop);
}

async function oursAtVirtualLine(baudRate, turnaround) {
  const program = await startOurs('virtual', baudRate, turnaround);
  const client = start('rtu-client.mjs', program.serialPath('bench'));
  await message(client);
  return {
    ...contender(`ours, virtual line, ${turnaround}, ${baudRate}`, client, program.pid, program.stop),
    program,
  };
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
