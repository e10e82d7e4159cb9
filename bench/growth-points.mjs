/**
 * A program, and how it is asked.
 * @typedef {object} Point
 * @property {number} n how many there are of what grows
 * @property {object} config
 * @property {readonly object[]} [rules] faults
 * @property {number} [idle] clients that say nothing
 * @property {number} [units] that are asked
 * @property {number} [addresses] that are asked for
 * @property {readonly string[]} [asked] lines, one request each in turn; `lan` when absent
 */

/** @typedef {{what: string, points: readonly Point[]}} Dimension something that there can be more of */

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

const lines = (lineOf) => (n) => {
  const asked = numbers(n).map((i) => `lan${i}`);
  const entries = asked.map((name) => [name, lineOf()]);
  return { n, asked, config: { devices: { bench: deviceOf(10) }, lines: Object.fromEntries(entries) } };
};
const pseudoTerminal = () => ({
  serial: { path: 'virtual', baudRate: 115200, parity: 'none' },
  timing: { turnaround: 'eager' },
  units: { 1: 'bench' },
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
  config: usual,
  rules: numbers(n).map((i) => ({ name: `r${i}`, when: whenOf(i), do: [{ delay: 1 }] })),
});
const registers = (addressesOf) => (n) => ({
  n,
  addresses: addressesOf(n),
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

const every = (n) => Math.max(1, n / 4 - 10);
const RULES = [0, 16, 256];
const LINES = [1, 16, 64, 256];

/**
 * Measured without sockets.
 * @type {readonly Dimension[]}
 */
export const INSIDE = [
  { what: 'nothing: the same three times', points: [1, 1, 1].map((n) => ({ n, config: usual })) },
  { what: 'lines, asked in turn', points: LINES.map(lines(lan)) },
  { what: 'lines, one of them asked', points: LINES.map((n) => ({ ...lines(lan)(n), asked: ['lan0'] })) },
  { what: 'units, asked in turn', points: [1, 16, 247].map(units) },
  { what: 'units, one of them asked', points: [1, 16, 247].map((n) => ({ ...units(n), units: 1 })) },
  {
    what: 'rules for another line',
    points: RULES.map((n) => ({
      ...rules(() => ({ line: 'other' }))(n),
      config: { ...usual, lines: { lan: lan(), other: lan() } },
    })),
  },
  { what: 'rules for another unit', points: RULES.map(rules(() => ({ unit: 9 }))) },
  { what: 'rules, lists of 246 units', points: RULES.map(rules(() => ({ unit: numbers(246, 2) }))) },
  { what: 'rules for another function', points: RULES.map(rules(() => ({ function: 4 }))) },
  { what: 'rules for another address', points: RULES.map(rules((i) => ({ address: 100 + i }))) },
  { what: 'rules for another quantity', points: RULES.map(rules((i) => ({ quantity: 11 + i }))) },
  {
    what: 'rules, 1,000 addresses asked',
    points: RULES.map((n) => ({
      ...rules((i) => ({ address: 2000 + i }))(n),
      addresses: 1000,
      config: { devices: { bench: deviceOf(2000) }, lines: { lan: lan() } },
    })),
  },
  {
    what: 'registers, all of them asked',
    points: [40, 10_000, 262_144].map(registers(every)),
  },
  { what: 'registers, the same 10 asked', points: [40, 10_000, 262_144].map(registers(() => 1)) },
  { what: 'signals that nobody reads', points: [1, 100, 10_000].map(signals) },
  { what: 'events kept: none or some', points: [0, 1000].map(traffic) },
  { what: 'events kept', points: [1000, 10_000, 100_000].map(traffic) },
];

/**
 * Measured with clients on sockets and terminals.
 * @type {readonly Dimension[]}
 */
export const OUTSIDE = [
  { what: 'TCP lines', points: LINES.map(lines(lan)) },
  { what: 'virtual serial lines', points: LINES.map(lines(pseudoTerminal)) },
  { what: 'idle clients', points: [1, 100, 2000].map((n) => ({ n, config: usual, idle: n })) },
];
