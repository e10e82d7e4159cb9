import { parseArgs } from 'node:util';
import { startProgram } from '../test/support/program.mjs';
import { idleClients, readRegisters } from './growth-load.mjs';
import { CORE, canPin, pin } from './processes.mjs';
import { machine, printTable } from './report.mjs';
import { runTime } from './run-time.mjs';

/*
 * node bench/growth.mjs [--only rules] [--requests 8000]
 *
 * What a request costs the server as there is more of everything: processor time, so that a busy machine matters little.
 */

const ROUNDS = 5;
/** Costs that differ by less are taken for the same: two runs of one program do, too. */
const SAME = 1.15;

/**
 * A server, and how it is asked.
 * @typedef {object} Point
 * @property {number} n
 * @property {object} [config] in place of the usual one
 * @property {readonly object[]} [rules] faults
 * @property {number} [idle] clients that say nothing
 * @property {number} [units] that are asked
 * @property {number} [addresses] that are asked for
 */

const holding = (quantity) => [{ address: 0, quantity, value: 4711, write: true }];
const deviceOf = (quantity) => ({ registers: { holding: holding(quantity) } });
const wholeDevice = (quantity) => ({
  registers: Object.fromEntries(
    ['coils', 'discrete', 'input', 'holding'].map((table) => [
      table,
      [{ address: 0, quantity, ...(table === 'holding' || table === 'coils' ? { write: true } : {}) }],
    ]),
  ),
});
const lan = (units = { 1: 'bench' }) => ({ tcp: { port: 0, maxClients: 2100 }, units });
const usual = { devices: { bench: deviceOf(10) }, lines: { lan: lan() } };
const numbers = (count, first = 0) => Array.from({ length: count }, (_, i) => first + i);

const lines = (n) => ({
  n,
  config: {
    devices: { bench: deviceOf(10) },
    lines: Object.fromEntries(numbers(n).map((i) => [i === 0 ? 'lan' : `lan${i}`, lan()])),
  },
});
const units = (n) => ({
  n,
  units: n,
  config: {
    devices: Object.fromEntries(numbers(n, 1).map((i) => [`d${i}`, deviceOf(10)])),
    lines: { lan: lan(Object.fromEntries(numbers(n, 1).map((i) => [i, `d${i}`]))) },
  },
});
const rules = (whenOf) => (n) => ({
  n,
  rules: numbers(n).map((i) => ({ name: `r${i}`, when: whenOf(i), do: [{ delay: 1 }] })),
});
const registers = (n) => ({
  n,
  addresses: Math.max(1, n / 4 - 10),
  config: { devices: { bench: wholeDevice(n / 4) }, lines: { lan: lan() } },
});
const signals = (n) => ({
  n,
  config: {
    devices: {
      bench: {
        registers: {
          holding: [
            ...holding(10),
            {
              address: 10,
              quantity: n,
              signal: { sine: { period: '10s', amplitude: 1000, offset: 2000 } },
            },
          ],
        },
      },
    },
    lines: { lan: lan() },
  },
});
const traffic = (n) => ({ n, config: { ...usual, traffic: { events: n } } });

/** @type {readonly {what: string, points: readonly Point[]}[]} */
const DIMENSIONS = [
  { what: 'lines', points: [1, 16, 256].map(lines) },
  { what: 'units', points: [1, 16, 247].map(units) },
  {
    what: 'rules for another line',
    points: [0, 16, 256].map((n) => ({
      ...rules(() => ({ line: 'other' }))(n),
      config: { ...usual, lines: { lan: lan(), other: lan() } },
    })),
  },
  { what: 'rules for another unit', points: [0, 16, 256].map(rules(() => ({ unit: 9 }))) },
  { what: 'rules, lists of 246 units', points: [0, 16, 256].map(rules(() => ({ unit: numbers(246, 2) }))) },
  { what: 'rules for another function', points: [0, 16, 256].map(rules(() => ({ function: 4 }))) },
  { what: 'rules for another address', points: [0, 16, 256].map(rules((i) => ({ address: 100 + i }))) },
  { what: 'rules for another quantity', points: [0, 16, 256].map(rules((i) => ({ quantity: 11 + i }))) },
  {
    what: 'rules, 1,000 addresses asked',
    points: [0, 16, 256].map((n) => ({
      ...rules((i) => ({ address: 2000 + i }))(n),
      addresses: 1000,
      config: { devices: { bench: deviceOf(2000) }, lines: { lan: lan() } },
    })),
  },
  { what: 'idle clients', points: [1, 100, 2000].map((n) => ({ n, idle: n })) },
  { what: 'registers of a device', points: [40, 10_000, 262_144].map(registers) },
  { what: 'signals that nobody reads', points: [1, 100, 10_000].map(signals) },
  { what: 'events kept', points: [0, 1000, 100_000].map(traffic) },
];

/**
 * @param {{only?: string, requests?: number}} [options] only dimensions whose name has this in it; requests a round
 */
export async function benchGrowth({ only = '', requests = 8000 } = {}) {
  const rows = [];
  for (const { what, points } of DIMENSIONS.filter(({ what }) => what.includes(only))) {
    const costs = await costsOf(points, requests);
    const first = costs[0] ?? Number.NaN;
    const last = costs.at(-1) ?? Number.NaN;
    const values = [...points.map(({ n }, i) => `${n}: ${costs[i]?.toFixed(1)}`), growth(points, costs)];
    const text = `last <= ${SAME} x first, is ${(last / first).toFixed(2)}`;
    rows.push({ what, values, budget: { text, reached: last <= SAME * first } });
  }
  printTable(
    'Growth: processor time of the server for a request, µs, as there is more of something',
    `Function 3 with 10 registers on TCP. By turns ${ROUNDS} x ${requests} requests on 16 connections; medians. Differences up to\n` +
      `${Math.round(100 * (SAME - 1))} % are taken for none.`,
    ['few', 'more', 'many', 'grows as'],
    rows,
  );
}

/** @param {readonly Point[]} points */
function growth(points, costs) {
  const ratio = costs.at(-1) / costs[0];
  if (ratio <= SAME) return 'O(1)';
  const times = (points.at(-1)?.n ?? 1) / Math.max(1, points[0]?.n ?? 1);
  const exponent = Math.log(ratio) / Math.log(times);
  return exponent <= 0.1 ? `O(log n), ${ratio.toFixed(2)} x` : `n^${exponent.toFixed(2)}`;
}

/** Median cost of each point in µs; all of them run side by side and are measured by turns. */
async function costsOf(points, requests) {
  const servers = [];
  for (const point of points) servers.push(await startPoint(point));
  const measured = servers.map(() => []);
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, { load, pid }] of servers.entries()) {
      const usedBefore = runTime(pid);
      await readRegisters({ ...load, requests });
      if (round > 0) measured[i]?.push((runTime(pid) - usedBefore) / requests);
    }
  }
  for (const { end } of servers) await end();
  return measured.map((each) => each.toSorted((a, b) => a - b)[ROUNDS >> 1]);
}

/** @param {Point} point */
async function startPoint({ config = usual, rules = [], idle = 0, units = 1, addresses = 1 }) {
  const faults = rules.length > 0 ? { faults: rules } : {};
  const program = await startProgram({ config: { ...config, ...faults } });
  pin(program.pid, CORE.server);
  const ports = Object.keys(config.lines).map((name) => program.tcpPort(name));
  const endIdle = await idleClients(ports[0] ?? 0, idle);
  const end = async () => {
    endIdle();
    await program.stop();
  };
  return { load: { ports, units, addresses }, pid: program.pid, end };
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { only: { type: 'string' }, requests: { type: 'string' } } });
  console.log(machine());
  if (canPin) pin(process.pid, CORE.client);
  await benchGrowth({
    ...(values.only !== undefined && { only: values.only }),
    ...(values.requests !== undefined && { requests: Number(values.requests) }),
  });
}
