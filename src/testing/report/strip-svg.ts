import { type Box, boxPath, drawingOf, HEIGHT, laneTop } from '../../common/timeline/drawing.js';
import { LANES, type Piece, piecesOf } from '../../common/timeline/pieces.js';
import { msText, rulerFrom, ticksOf } from '../../common/timeline/times.js';
import type { TrafficView } from '../../simulator/traffic/view.js';
import { escaped } from './escape.js';

const WIDTH = 940;
/** Width of the names of the rows, in pixels. */
const LEFT = 64;
/** How many events are drawn. With more of them, each would be too narrow to see. */
const MOST_EVENTS = 24;
/** Width of a character in the font of the strips, in pixels. */
const CHARACTER = 6.7;
const TICK = 90;
/** A pause is cut out when it lasts longer than this, and longer than this many times all frames together. */
const LONG_PAUSE_US = 20_000;
const LONG_PAUSE_SHARE = 3;
/** Width of a pause that is cut out, and of the margin around the frames, in pixels. */
const CUT = 120;
const MARGIN = 12;
/** Above 19200 baud t3.5 is 1.75 ms; a character takes less than this there (Serial Line V1.02, 2.5.1.1). */
const FAST_CHARACTER_US = 500;
const FAST_T35_US = 1750;
const T35_CHARACTERS = 3.5;

/** A span of time that is drawn to scale, in µs. */
interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** The first frames of a finding as inline SVG: to scale, with long pauses cut out. Empty without frames. */
export function stripSvg(frames: readonly TrafficView[]): string {
  const characterUs = characterTime(frames);
  const t35Us = characterUs && (characterUs < FAST_CHARACTER_US ? FAST_T35_US : T35_CHARACTERS * characterUs);
  const pieces = frames.slice(0, MOST_EVENTS).flatMap((frame) => piecesOf(frame, { characterUs, t35Us }));
  const spans = spansOf(pieces);
  const [first] = spans;
  if (!first) return '';
  const width = WIDTH - LEFT;
  const { xOf, usPerPixel } = axisOf(spans, width);
  const ruler = rulerFrom(first.from);
  const { boxes, texts, grid, pauses } = drawingOf(pieces, {
    xOf,
    width,
    characterUs,
    widthOf: (text) => text.length * CHARACTER,
    ticks: spans.flatMap(({ from, to }) => ticksOf(ruler, from, to, TICK * usPerPixel)),
  });
  const whole = msText((spans.at(-1) ?? first).to - first.from);
  return [
    `<svg class="strip" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Timing of ${pieces.length} pieces within ${whole}">`,
    ...LANES.map((lane) => `<text x="0" y="${laneTop(lane) + 13}">${lane}</text>`),
    `<g transform="translate(${LEFT})">`,
    `<path class="grid" d="${grid}"/>`,
    ...boxes.map(boxSvg),
    `<path class="pauses" d="${pauses}"/>`,
    ...texts.map(
      ({ kind, x, y, text }) => `<text class="${kind}" x="${x.toFixed(1)}" y="${y}">${escaped(text)}</text>`,
    ),
    ...spans.slice(1).map(({ from }) => cutSvg(xOf(from) - MARGIN - 2)),
    '</g></svg>',
  ].join('\n');
}

function boxSvg(box: Box): string {
  const { look, words } = box.piece;
  return `<path class="${look}" d="${boxPath(box)}"><title>${escaped(words)}</title></path>`;
}

/** Two zigzag lines from top to bottom. The time between them is not to scale. */
function cutSvg(x: number): string {
  const teeth = Array.from({ length: HEIGHT / 8 }, (_, i) => `l${i % 2 === 0 ? 4 : -4} 8`).join('');
  return `<path class="cut" d="M${x.toFixed(1)} 0${teeth}m6 0${teeth.replaceAll(' 8', ' -8')}"/>`;
}

/** The spans in which somebody sends on the line. Short pauses belong to a span, long ones separate two. */
function spansOf(pieces: readonly Piece[]): TimeSpan[] {
  const busyUs = pieces.reduce(
    (sum, { lane, startUs, endUs }) => sum + (lane === 'planned' ? 0 : endUs - startUs),
    0,
  );
  const long = Math.max(LONG_PAUSE_US, LONG_PAUSE_SHARE * busyUs);
  const spans: { from: number; to: number }[] = [];
  for (const { startUs, endUs } of pieces.toSorted((a, b) => a.startUs - b.startUs)) {
    const last = spans.at(-1);
    if (last && startUs - last.to <= long) last.to = Math.max(last.to, endUs);
    else spans.push({ from: startUs, to: endUs });
  }
  return spans;
}

/** Maps µs to pixels: one scale for all spans, and a fixed width for the pauses between them. */
function axisOf(spans: readonly TimeSpan[], width: number) {
  const shown = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const cut = Math.min(CUT, width / 2 / spans.length);
  const room = width - 2 * MARGIN - (spans.length - 1) * (cut + 2 * MARGIN);
  const usPerPixel = Math.max(1, shown) / Math.max(1, room);
  let x = MARGIN;
  const starts = spans.map(({ from, to }) => {
    const start = x;
    x += (to - from) / usPerPixel + cut + 2 * MARGIN;
    return start;
  });
  const xOf = (us: number) => {
    const after = spans.findIndex(({ to }) => us <= to);
    const i = after < 0 ? spans.length - 1 : after;
    return (starts[i] ?? 0) + (us - (spans[i]?.from ?? 0)) / usPerPixel;
  };
  return { xOf, usPerPixel };
}

/** Time of one character on the line of the frames, in µs; undefined where characters take no time. */
function characterTime(frames: readonly TrafficView[]): number | undefined {
  const known = frames.find(({ pauseUs, pauseCharacters }) => pauseUs && pauseCharacters);
  return known && (known.pauseUs ?? 0) / (known.pauseCharacters ?? 1);
}
