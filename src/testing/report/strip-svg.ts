import { axisOf, placeOf, type Stretch } from './axis.js';
import { escaped } from './escape.js';
import type { StripPiece } from './strip.js';

const WIDTH = 940;
/** Room for the names of the rows, and for the number of the last frame. */
const LEFT = 52;
const RIGHT = 34;
const HEIGHT = 92;
/** Heights of the rows: requests above, replies below, the axis under both. */
const REQUEST_Y = 22;
const REPLY_Y = 44;
const BAR = 16;
const AXIS_Y = 70;
/** A frame on a socket takes no time; it is drawn all the same. */
const LEAST_BAR = 3;
const LABEL_WIDTH = 34;

/**
 * A timing strip as inline SVG: what passed the line, to scale, with a mark where the axis is broken.
 * Empty without pieces.
 */
export function stripSvg(pieces: readonly StripPiece[]): string {
  if (pieces.length === 0) return '';
  const axis = axisOf(pieces, WIDTH - LEFT - RIGHT).map((stretch) => ({ ...stretch, x: stretch.x + LEFT }));
  const title = `What passed the line within ${durationLabel(spanOf(pieces))}`;
  return [
    `<svg class="strip" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">`,
    `<text x="0" y="${REQUEST_Y + 12}">client</text><text x="0" y="${REPLY_Y + 12}">server</text>`,
    ...axis.map(stretchSvg),
    ...pieces.filter(({ kind }) => kind === 't35').map((piece) => bar(piece, axis)),
    ...pieces.filter(({ kind }) => kind !== 't35').map((piece) => bar(piece, axis)),
    ...labels(pieces, axis),
    '</svg>',
  ].join('\n');
}

function spanOf(pieces: readonly StripPiece[]): number {
  return Math.max(...pieces.map(({ to }) => to)) - Math.min(...pieces.map(({ from }) => from));
}

function bar(piece: StripPiece, axis: readonly Stretch[]): string {
  const { kind, from, to, text, seq } = piece;
  const x = placeOf(axis, from);
  const width = Math.max(LEAST_BAR, placeOf(axis, to) - x);
  const y = kind === 'request' || kind === 't35' || kind === 'damaged' ? REQUEST_Y : REPLY_Y;
  const length = to > from ? `, ${durationLabel(to - from)}` : '';
  const title = `<title>${escaped(`#${seq} +${durationLabel(from)}${length}: ${text}`)}</title>`;
  if (kind === 'silence') {
    const [left, top] = [x - 4, REPLY_Y + 4];
    return `<path class="silence" d="M${left} ${top}l8 8m0 -8l-8 8">${title}</path>`;
  }
  const place = `x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${BAR}"`;
  return `<rect class="${kind}" ${place}>${title}</rect>`;
}

/** The numbers of the frames, as many as there is room for. */
function labels(pieces: readonly StripPiece[], axis: readonly Stretch[]): string[] {
  let free = 0;
  const told = new Set<number>();
  return pieces.flatMap(({ seq, from, kind }) => {
    const x = placeOf(axis, from);
    if (kind === 't35' || told.has(seq) || x < free) return [];
    told.add(seq);
    free = x + LABEL_WIDTH;
    return [`<text class="label" x="${x.toFixed(1)}" y="12">#${seq}</text>`];
  });
}

function stretchSvg({ from, to, x, width, isPause }: Stretch): string {
  const middle = (x + width / 2).toFixed(1);
  const label = durationLabel(to - from);
  const text = `<text class="scale" x="${middle}" y="${AXIS_Y + 16}">${label}</text>`;
  if (!isPause) {
    const line = `<path class="axis" d="M${x.toFixed(1)} ${AXIS_Y - 3}v6m0 -3h${width.toFixed(1)}m0 -3v6"/>`;
    return width > LABEL_WIDTH * 1.5 ? `${line}${text}` : line;
  }
  // Two strokes through all rows, where nothing is to scale.
  const strokes = [x + width * 0.3, x + width * 0.7].map(
    (at) => `M${(at - 4).toFixed(1)} ${AXIS_Y + 5}L${(at + 4).toFixed(1)} ${REQUEST_Y - 5}`,
  );
  const ends = `M${x.toFixed(1)} ${AXIS_Y}h${(width * 0.3).toFixed(1)}M${(x + width * 0.7).toFixed(1)} ${AXIS_Y}H${(x + width).toFixed(1)}`;
  const title = `<title>${label} without anything, not to scale</title>`;
  return `<path class="pause" d="${strokes.join('')}${ends}">${title}</path>${text}`;
}

/** `1.25 ms`, `2.05 s`. */
function durationLabel(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}
