/** Growth beyond these limits, which allow for the garbage collector and a busy machine, counts as drift. */
const MEMORY_TIMES = 1.15;
const MEMORY_MB = 10;
/** A heap without garbage still varies with the work in progress, and with the code that V8 has compiled. */
const HEAP_MB = 2;
const DESCRIPTORS = 2;
const MEDIAN_TIMES = 2;
const P99_TIMES = 4;
/** An increase by less than this, in ms, does not matter. */
const SHORT_MS = 10;

/**
 * The measurements in one part of the time.
 * @typedef {object} Part
 * @property {number} memory MB after a garbage collection
 * @property {{lines: number, desk: number}} heap of each side, likewise
 * @property {{lines: number, desk: number}} code the part of the heap that is code compiled by V8
 * @property {number} descriptors
 * @property {number} rest requests to REST
 * @property {Record<string, {requests: number, median: number, p99: number, lost: number}>} lines ms from a
 * request to its answer; lost: requests without one
 */

/**
 * Describes what has grown from the second part to the last, and what was lost in any, as sentences; empty if
 * there is nothing. The first part is for warming up.
 * @param {readonly Part[]} parts @returns {string[]}
 */
export function driftOf(parts) {
  const [first, last] = [parts[1], parts.at(-1)];
  if (!first || !last || parts.length < 3) return ['too few parts were measured'];
  const problems = [];
  for (const line of Object.keys(last.lines)) {
    const lost = parts.reduce((sum, part) => sum + (part.lines[line]?.lost ?? 0), 0);
    if (lost > 0) problems.push(`${line}: requests lost: ${lost}`);
  }
  if (last.memory > first.memory * MEMORY_TIMES + MEMORY_MB)
    problems.push(`memory grew from ${first.memory.toFixed(0)} to ${last.memory.toFixed(0)} MB`);
  for (const side of /** @type {const} */ (['lines', 'desk']))
    if (last.heap[side] > first.heap[side] + HEAP_MB)
      problems.push(
        `the heap of the ${side} thread grew from ${first.heap[side].toFixed(1)} to ${last.heap[side].toFixed(1)} MB`,
      );
  if (last.descriptors > first.descriptors + DESCRIPTORS)
    problems.push(`file descriptors grew from ${first.descriptors} to ${last.descriptors}`);
  if (parts.some(({ rest }) => rest === 0)) problems.push('rest: no request was answered');
  for (const line of Object.keys(last.lines)) problems.push(...driftOfLine(line, first, last));
  return problems;
}

/** @param {string} line @param {Part} first @param {Part} last */
function driftOfLine(line, first, last) {
  const [before, now] = [first.lines[line], last.lines[line]];
  if (!before || !now || before.requests === 0 || now.requests === 0) {
    return [`${line}: no request was answered`];
  }
  const grew = (/** @type {string} */ what, /** @type {number} */ from, /** @type {number} */ to) =>
    `${line}: ${what} grew from ${from.toFixed(1)} to ${to.toFixed(1)} ms`;
  if (now.median > before.median * MEDIAN_TIMES + SHORT_MS)
    return [grew('the median', before.median, now.median)];
  if (now.p99 > before.p99 * P99_TIMES + SHORT_MS) return [grew('p99', before.p99, now.p99)];
  return [];
}

/** The parts as a Markdown table, for a terminal and for a document. @param {readonly Part[]} parts */
export function partsTable(parts) {
  const row = (/** @type {string} */ what, /** @type {(part: Part, index: number) => string} */ cell) =>
    `| ${[what, ...parts.map(cell)].join(' | ')} |`;
  const lines = Object.keys(parts[0]?.lines ?? {});
  return [
    row('part', (_, index) => String(index + 1)),
    row('---', () => '---'),
    row('memory, MB', ({ memory }) => memory.toFixed(1)),
    row(
      'heap of the lines thread, of the desk thread, MB',
      ({ heap }) => `${heap.lines.toFixed(2)}, ${heap.desk.toFixed(2)}`,
    ),
    row(
      'compiled code in these heaps, MB',
      ({ code }) => `${code.lines.toFixed(2)}, ${code.desk.toFixed(2)}`,
    ),
    row('descriptors', ({ descriptors }) => String(descriptors)),
    row('requests to REST', ({ rest }) => String(rest)),
    ...lines.map((line) =>
      row(`${line}: requests, lost; median, p99 ms`, (part) => {
        const { requests = 0, lost = 0, median = Number.NaN, p99 = Number.NaN } = part.lines[line] ?? {};
        return requests === 0
          ? `0, ${lost}`
          : `${requests}, ${lost}; ${median.toFixed(1)}, ${p99.toFixed(1)}`;
      }),
    ),
  ].join('\n');
}
