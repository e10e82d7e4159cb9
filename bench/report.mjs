import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';

/**
 * One line of a table. `budget` says what must be reached; without it the line is there to compare with.
 * @typedef {{what: string, values: (string | number)[], budget?: {text: string, reached: boolean}}} Row
 */

/** Whether the results are for a program: one JSON document on standard output, and what people read on standard error. */
export const asJson = process.argv.includes('--json');

const tables = [];

/** Tells people something. */
export const say = asJson ? console.error : console.log;

/** What was measured on: figures of two machines can not be compared. */
export function machine() {
  const processors = cpus();
  const kernel = execFileSync('uname', ['-srm'], { encoding: 'utf8' }).trim();
  return `${processors.length} x ${processors[0]?.model ?? 'unknown processor'}, ${kernel}, Node ${process.version}`;
}

/**
 * @param {string} title
 * @param {string} explanation what is compared with what
 * @param {readonly string[]} columns names of the values
 * @param {readonly Row[]} rows
 */
export function printTable(title, explanation, columns, rows) {
  const head = ['', ...columns, 'budget', ''];
  const body = rows.map(({ what, values, budget }) => [
    what,
    ...values.map(String),
    budget?.text ?? '',
    budget ? (budget.reached ? 'ok' : 'over budget') : '',
  ]);
  const widths = head.map((name, i) => Math.max(name.length, ...body.map((cells) => cells[i]?.length ?? 0)));
  const line = (cells) =>
    cells
      .map((cell, i) => cell[i === 0 ? 'padEnd' : 'padStart'](widths[i]))
      .join('  ')
      .trimEnd();
  say(`\n${title}\n${explanation}\n`);
  say([line(head), ...body.map(line)].join('\n'));
  tables.push({ title, explanation, rows: rows.map((row) => forPrograms(columns, row)) });
}

function forPrograms(columns, { what, values, budget }) {
  const named = columns.map((column, i) => [column, asNumber(values[i])]);
  return { what, values: Object.fromEntries(named), ...(budget && { budget }) };
}

/** Figures were rounded to be read. */
function asNumber(value) {
  return value !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
}

/** All tables, where they are for a program. */
export function printJson() {
  if (asJson) console.log(JSON.stringify({ machine: machine(), date: new Date().toISOString(), tables }));
}

/** @param {readonly number[]} samples */
export const median = (samples) => spread(samples).median;

/**
 * Median, 99th percentile and maximum.
 * @param {readonly number[]} samples
 */
export function spread(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { median: at(0.5), p99: at(0.99), max: at(1) };
}

/** @param {number} ms */
export const ms = (ms) => ms.toFixed(3);
