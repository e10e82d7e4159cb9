/*
 * The share of replies that came later than a number of ms after t3.5, both axes logarithmic: the right end of a line is its
 * tail, which a median hides.
 */

const WIDTH = 760;
const HEIGHT = 380;
const FRAME = { left: 70, right: 230, top: 44, bottom: 56 };
const MS = { least: 0.05, most: 50, marks: [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50] };
const SHARES = [1, 0.5, 0.1, 0.05, 0.01, 0.002];
const COLOURS = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#17becf'];

/**
 * @param {readonly {name: string, late: readonly number[]}[]} series how late each reply was, in ms
 * @param {string} machine what it was measured on
 * @returns {string} an SVG
 */
export function latenessPlot(series, machine) {
  const count = series.reduce((sum, { late }) => sum + late.length, 0);
  const lines = series.map(({ name, late }, i) => {
    const colour = COLOURS[i % COLOURS.length];
    const y = FRAME.top + 14 + 18 * i;
    return (
      `<polyline fill="none" stroke="${colour}" stroke-width="1.6" points="${points(late)}"/>` +
      `<line x1="${WIDTH - FRAME.right + 12}" x2="${WIDTH - FRAME.right + 30}" y1="${y - 4}" y2="${y - 4}" stroke="${colour}" stroke-width="3"/>` +
      text(WIDTH - FRAME.right + 36, y, name.replace(/^ours,? /, ''), 'start')
    );
  });
  const bottom = HEIGHT - FRAME.bottom;
  const grid = [
    ...MS.marks.map(
      (each) =>
        `<line x1="${x(each)}" x2="${x(each)}" y1="${FRAME.top}" y2="${bottom}" stroke="#ddd"/>` +
        text(x(each), bottom + 16, String(each), 'middle'),
    ),
    ...SHARES.map(
      (each) =>
        `<line x1="${FRAME.left}" x2="${WIDTH - FRAME.right}" y1="${yOf(each)}" y2="${yOf(each)}" stroke="#ddd"/>` +
        text(FRAME.left - 6, yOf(each) + 4, `${100 * each} %`, 'end'),
    ),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11" fill="#333">
<rect width="100%" height="100%" fill="#fff"/>
${text(FRAME.left, 18, `Share of ${count} replies that came later than this after t3.5`, 'start', 13)}
${text(FRAME.left, 34, machine, 'start', 10)}
${grid.join('\n')}
${lines.join('\n')}
${text((FRAME.left + WIDTH - FRAME.right) / 2, HEIGHT - 16, 'ms after t3.5', 'middle')}
</svg>
`;
}

/** @param {readonly number[]} late */
function points(late) {
  const sorted = [...late].sort((a, b) => a - b);
  return sorted.map((each, i) => `${x(each)},${yOf((sorted.length - i) / sorted.length)}`).join(' ');
}

/** @param {number} ms */
function x(ms) {
  const within = Math.min(MS.most, Math.max(MS.least, ms));
  const share = Math.log(within / MS.least) / Math.log(MS.most / MS.least);
  return round(FRAME.left + share * (WIDTH - FRAME.left - FRAME.right));
}

/** @param {number} share */
function yOf(share) {
  const least = SHARES.at(-1) ?? 1;
  const down = Math.log(Math.max(least, share)) / Math.log(least);
  return round(FRAME.top + down * (HEIGHT - FRAME.top - FRAME.bottom));
}

/** @param {number} value */
const round = (value) => Math.round(10 * value) / 10;

/**
 * @param {number} atX
 * @param {number} atY
 * @param {string} content
 * @param {'start' | 'middle' | 'end'} anchor
 * @param {number} [size]
 */
function text(atX, atY, content, anchor, size) {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${atX}" y="${atY}" text-anchor="${anchor}"${size === undefined ? '' : ` font-size="${size}"`}>${escaped}</text>`;
}
