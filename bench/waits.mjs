import { CORE, message, pin, start } from './processes.mjs';
import { machine, ms, printTable, spread } from './report.mjs';

const ROUNDS = 5;
const WAITS_A_ROUND = 160;
/** The waits for t3.5 above 19200 baud and at 9600, in ms. */
const T35 = [1.75, 4.01];
const LINES = [1, 10, 32];
const SPENT_MS = 0.8;

/**
 * Ways of waiting. The first is how it was done until the kernel's timer came: the loop's timers to 1.2 ms before the
 * time, then turns of the loop.
 */
const WAYS = [
  { way: 'turns', what: 'turns for the last 1.2 ms' },
  { way: 'loop', what: "the loop's timers" },
  { way: 'kernel', what: "the kernel's timer" },
];

/** The wait for t3.5: how late it ends, and the processor time that it takes. */
export async function benchWaits() {
  const rows = [];
  for (const t35 of T35) {
    for (const lines of LINES) rows.push(...(await rowsOf(t35, lines)));
  }
  printTable(
    `The wait for t3.5, ${ROUNDS} x ${WAITS_A_ROUND} waits by turns; ms`,
    'The program uses the timer of the kernel where it can be had, else those of the loop. Each line waits for t3.5, and again 5\n' +
      'to 8 ms later; the processor time is that of the whole process, less what it takes to do so without waiting, for one wait.',
    ['early', 'median late', 'p99 late', 'processor time'],
    rows,
  );
}

async function rowsOf(t35, lines) {
  const waiters = [];
  for (const { way, what } of [...WAYS, { way: 'none', what: '' }]) {
    const child = start('waiter.mjs', way);
    await message(child);
    pin(child.pid, CORE.server);
    waiters.push({ what, child, late: [], spent: [] });
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const { child, late, spent } of waiters) {
      const told = message(child);
      child.send({ t35, lines, waits: WAITS_A_ROUND });
      const measured = await told;
      late.push(...measured.late);
      spent.push(measured.spent);
    }
  }
  for (const { child } of waiters) child.kill();
  const idle = spread(waiters.at(-1).spent).median;
  return waiters.slice(0, -1).map(({ what, late, spent }, i) => {
    const { median, p99 } = spread(late);
    const time = spread(spent).median - idle;
    const early = late.filter((each) => each < 0).length;
    const budget = {
      text: `0 early, processor time <= ${SPENT_MS}`,
      reached: early === 0 && time <= SPENT_MS,
    };
    return {
      what: `t3.5 = ${t35}, lines: ${lines}, ${what}`,
      values: [early, ms(median), ms(p99), ms(time)],
      ...(i > 0 && { budget }),
    };
  });
}

if (process.argv[1] === import.meta.filename) {
  console.log(machine());
  await benchWaits();
}
