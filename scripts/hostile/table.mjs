/** @typedef {import('./siege.mjs').Effect} Effect */

/**
 * The program without an attack: 99th percentiles of the well-behaved clients, longest stall and longest
 * turn, in ms.
 * @typedef {{p99: Map<string, number>, stall: number, work: number}} Calm
 */

const RTU = 'serial rtu';

/**
 * Formats the effects as a Markdown table, for a terminal and for a document. Its first row is the program
 * without an attack.
 * @param {readonly Effect[]} effects @param {Calm} calm
 */
export function table(effects, calm) {
  const rows = [calmColumns(calm), ...effects.map((effect) => columns(effect, calm))];
  const head = Object.keys(rows.at(-1) ?? {});
  const lines = [head, head.map(() => '---'), ...rows.map((row) => head.map((column) => row[column] ?? ''))];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** One effect as a line. @param {Effect} effect @param {Calm} calm */
export function row(effect, calm) {
  return Object.values(columns(effect, calm)).join(' | ');
}

/**
 * The greatest factor between the p99 under attack and in calm, over all lines. @param {Effect} effect @param
 * {Calm} calm
 */
export function slower(effect, calm) {
  const lines = Object.keys(effect.others).map((line) => other(effect, line, calm));
  return Math.max(...lines, ...(Number.isNaN(effect.p99) ? [] : [own(effect, calm)]));
}

/** @param {Record<string, number>} lost */
export function counts(lost) {
  const texts = Object.entries(lost).map(([line, count]) => `${line} ${count}`);
  return texts.length > 0 ? texts.join(', ') : 'none';
}

/** @param {Effect} effect @param {Calm} calm */
function own({ line, p99 }, calm) {
  return p99 / (calm.p99.get(line) ?? Number.NaN);
}

/** @param {Effect} effect @param {string} line @param {Calm} calm */
function other({ others }, line, calm) {
  return (others[line] ?? Number.NaN) / (calm.p99.get(line) ?? Number.NaN);
}

/** @param {Effect} effect @param {Calm} calm @returns {Record<string, string>} */
function columns(effect, calm) {
  const { line, attack, amount, p99, stall, work, others, lost, askedAgain } = effect;
  const { before, peak, after, descriptors } = effect;
  const times = (/** @type {string} */ name) => other(effect, name, calm);
  const worst = Object.keys(others).reduce((a, b) => (times(b) > times(a) ? b : a));
  return {
    line,
    attack,
    amount,
    'RTU p99 ms': (line === RTU ? p99 : (others[RTU] ?? p99)).toFixed(1),
    'longest stall ms': stall.toFixed(1),
    'longest turn ms': work.toFixed(1),
    'p99 ms': Number.isNaN(p99) ? '' : `${p99.toFixed(1)} (${own(effect, calm).toFixed(1)} x)`,
    'slowest other line': `${worst} ${others[worst]?.toFixed(1)} (${times(worst).toFixed(1)} x)`,
    lost: askedAgain > 0 ? `${counts(lost)} (${askedAgain} asked again)` : counts(lost),
    'MB before, peak, after': [before, peak, after].map((mb) => mb.toFixed(0)).join(' '),
    descriptors: descriptors.join(' '),
  };
}

/** @param {Calm} calm @returns {Record<string, string>} */
function calmColumns({ p99, stall, work }) {
  return {
    attack: 'none',
    'RTU p99 ms': (p99.get(RTU) ?? Number.NaN).toFixed(1),
    'longest stall ms': stall.toFixed(1),
    'longest turn ms': work.toFixed(1),
  };
}
