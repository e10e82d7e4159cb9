import { parseArgs } from 'node:util';
import { startProgram } from '../test/support/program.mjs';
import { idleClients, onSockets, onTerminals } from './growth-load.mjs';
import { INSIDE, OUTSIDE } from './growth-points.mjs';
import { CORE, canPin, comeFirst, message, pin, start, stop } from './processes.mjs';
import { machine, median, printTable } from './report.mjs';
import { runTime } from './run-time.mjs';

/*
 * node bench/growth.mjs [--only rules] [--requests 8000] [--rounds 21]
 *
 * What a request costs the server as there is more of everything: processor time, so that a busy machine matters little.
 */

const INSIDE_ROUNDS = 21;
const OUTSIDE_ROUNDS = 7;
/** Costs that differ by less are taken for the same: two runs of one program do, too. */
const SAME_INSIDE = 1.1;
const SAME_OUTSIDE = 1.15;

/** @typedef {import('./growth-points.mjs').Dimension} Dimension */

/**
 * @param {{only?: string, requests?: number, rounds?: number}} [options] only dimensions whose name has this in it;
 *   requests a round
 */
export async function benchGrowth({ only = '', requests = 8000, rounds } = {}) {
  const inside = INSIDE.filter(({ what }) => what.includes(only));
  const outside = OUTSIDE.filter(({ what }) => what.includes(only));
  if (inside.length > 0) await benchInside(inside, requests, rounds ?? INSIDE_ROUNDS);
  if (outside.length > 0) await benchOutside(outside, requests, rounds ?? OUTSIDE_ROUNDS);
}

async function benchInside(dimensions, requests, rounds) {
  const rows = [];
  for (const { what, points } of dimensions) {
    const child = start('growth-inside.mjs');
    await message(child);
    pin(child.pid, CORE.server);
    comeFirst(child.pid);
    const told = message(child);
    child.send({ points, requests, rounds });
    const { costs } = await told;
    await stop(child);
    rows.push(rowOf(what, points, costs, SAME_INSIDE));
  }
  printTable(
    'Growth inside: processor time of a request without sockets, µs, as there is more of something',
    `Function 3 with 10 registers, from the bytes of a TCP connection to those of the reply, in one process. By turns ${rounds} x ${requests}\n` +
      `requests; medians, and the median of the rounds' ratios. Up to ${percent(SAME_INSIDE)} % are taken for no growth.`,
    ['from few', 'to many', 'times', 'middle half', 'grows as'],
    rows,
  );
}

async function benchOutside(dimensions, requests, rounds) {
  const rows = [];
  for (const { what, points } of dimensions) {
    rows.push(rowOf(what, points, await outsideCosts(points, requests, rounds), SAME_OUTSIDE));
  }
  printTable(
    'Growth: processor time of the server for a request, µs, as there is more of something',
    `Function 3 with 10 registers; TCP: 16 requests under way, a terminal: one. All lines are asked in turn. By turns ${rounds} x ${requests} requests; medians, and\n` +
      `the median of the rounds' ratios. Up to ${percent(SAME_OUTSIDE)} % are taken for no growth.`,
    ['from few', 'to many', 'times', 'middle half', 'grows as'],
    rows,
  );
}

const percent = (times) => Math.round(100 * (times - 1));

/**
 * @param {Dimension['points']} points
 * @param {readonly number[][]} costs of each point, one of each round. Those of a round were measured one after the other.
 */
function rowOf(what, points, costs, same) {
  const sorted = costs[0].map((first, round) => costs.at(-1)[round] / first).toSorted((a, b) => a - b);
  const quartile = (share) => sorted[Math.floor(share * (sorted.length - 1))].toFixed(2);
  const ratio = median(sorted);
  const shown = points.map(({ n }, i) => `${n}: ${median(costs[i]).toFixed(2)}`);
  const values = [
    shown[0],
    shown.slice(1).join(', '),
    ratio.toFixed(2),
    `${quartile(0.25)} to ${quartile(0.75)}`,
    growth(points, ratio, same),
  ];
  return { what, values, budget: { text: `<= ${same} x`, reached: ratio <= same } };
}

function growth(points, ratio, same) {
  if (ratio <= same) return 'O(1)';
  const times = (points.at(-1)?.n ?? 1) / Math.max(1, points[0]?.n ?? 1);
  const exponent = Math.log(ratio) / Math.log(times);
  return exponent <= 0.1 ? 'O(log n) at most' : `n^${exponent.toFixed(2)}`;
}

/** Cost of each point in each round, µs; all of them run side by side and are measured by turns. */
async function outsideCosts(points, requests, rounds) {
  const servers = [];
  for (const point of points) servers.push(await startPoint(point));
  const measured = servers.map(() => []);
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const [i, { ask, pid }] of servers.entries()) {
      const usedBefore = runTime(pid);
      await ask(requests);
      if (round > 0) measured[i].push((runTime(pid) - usedBefore) / requests);
    }
  }
  for (const { end } of servers) await end();
  return measured;
}

/** @param {import('./growth-points.mjs').Point} point */
async function startPoint({ config, rules = [], idle = 0, units = 1, addresses = 1, asked = ['lan'] }) {
  const faults = rules.length > 0 ? { faults: rules } : {};
  const program = await startProgram({ config: { ...config, ...faults } });
  pin(program.pid, CORE.server);
  comeFirst(program.pid);
  const isSerial = asked.some((name) => config.lines[name].serial);
  const clients = isSerial
    ? await onTerminals(asked.map((name) => program.serialPath(name)))
    : await onSockets({ ports: asked.map((name) => program.tcpPort(name)), units, addresses });
  const endIdle = idle === 0 ? () => {} : await idleClients(program.tcpPort(asked[0]), idle);
  const end = async () => {
    endIdle();
    clients.end();
    await program.stop();
  };
  return { ask: clients.ask, pid: program.pid, end };
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, requests: { type: 'string' }, rounds: { type: 'string' } },
  });
  console.log(machine());
  if (canPin) pin(process.pid, CORE.client);
  await benchGrowth({
    ...(values.only !== undefined && { only: values.only }),
    ...(values.requests !== undefined && { requests: Number(values.requests) }),
    ...(values.rounds !== undefined && { rounds: Number(values.rounds) }),
  });
}
