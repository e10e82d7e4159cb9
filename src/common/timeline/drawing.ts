import { LANES, type Lane, type Piece } from './pieces.js';
import { lengthText, msText } from './times.js';

/** Heights of the ruler and of one lane, in pixels. */
export const RULER = 22;
const LANE = 26;
const PAUSES = 18;
const PAD = 4;
/** The height of a whole strip, in pixels. */
export const HEIGHT = RULER + LANES.length * LANE + PAUSES;

const TOPS: Readonly<Record<Lane, number>> = {
  received: RULER,
  sent: RULER + LANE,
  planned: RULER + 2 * LANE + PAUSES,
  notes: RULER + 3 * LANE + PAUSES,
};
const PAUSES_TOP = RULER + 2 * LANE;
/** Where the lines between the rows are drawn, in pixels from the top. */
const ROW_LINES = [...Object.values(TOPS), PAUSES_TOP];

/** Returns the lane at a height in pixels; undefined on the ruler and between the pauses. */
export function laneAt(y: number): Lane | undefined {
  return LANES.find((lane) => y >= TOPS[lane] && y < TOPS[lane] + LANE);
}

/** The position of a piece in the drawing, in pixels. */
export interface Box {
  readonly piece: Piece;
  readonly x: number;
  readonly width: number;
}

/** A text in a drawing. `y` is its middle. An `inside` text is on a piece, in front of the piece's colour. */
export interface Text {
  readonly kind: 'tick' | 'inside' | 'beside' | 'pause';
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/**
 * The visible part of a pause between two received or sent pieces. `text` is empty if there is no room for
 * it. `isBroken`: frames that are not shown passed during the pause, so its length is the silence after the
 * last of them.
 */
export interface Pause {
  readonly x: number;
  readonly width: number;
  readonly text: string;
  readonly isBroken: boolean;
}

/**
 * How much longer than its silence a gap may look, because times are measured: in characters, and the minimum
 * in µs.
 */
const INEXACT_CHARACTERS = 3;
const INEXACT_US = 100;

/** The part of the time that a drawing shows, and its scale in pixels. */
interface View {
  /** Returns the position of a moment, in pixels. */
  readonly xOf: (us: number) => number;
  readonly width: number;
  readonly characterUs: number | undefined;
  /** Returns the width of a text, in pixels. */
  readonly widthOf: (text: string) => number;
  readonly ticks: readonly { readonly us: number; readonly text: string }[];
}

/** A timing strip ready to be drawn, in pixels. */
export interface Drawing {
  /** The boxes, in the order of the pieces. */
  readonly boxes: readonly Box[];
  readonly texts: readonly Text[];
  /** The lines of the ruler and between the rows, as an SVG path. */
  readonly grid: string;
  /** The lines of the pauses, with an end mark on each side, as an SVG path. */
  readonly pauses: string;
}

export function drawingOf(pieces: readonly Piece[], view: View): Drawing {
  const { xOf, width, widthOf, ticks } = view;
  const boxes = boxesOf(pieces, xOf, width);
  const pauses = pausesOf(pieces, view);
  const lines = ticks.map(({ us, text }) => ({ x: Math.round(xOf(us)) + 0.5, text }));
  return {
    boxes,
    texts: [
      ...lines.map(({ x, text }) => ({ kind: 'tick' as const, x: x + PAD, y: RULER / 2, text })),
      ...labelsOf(boxes, width, widthOf),
      ...pauses.map(({ x, width: room, text }) => ({
        kind: 'pause' as const,
        x: x + (room - widthOf(text)) / 2,
        y: PAUSES_TOP + PAUSES / 2,
        text,
      })),
    ],
    grid: [
      ...lines.map(({ x }) => `M${x} 0V${HEIGHT}`),
      ...ROW_LINES.map((y) => `M0 ${y + 0.5}H${width}`),
    ].join(''),
    pauses: pauses.map((pause) => pausePath(pause, widthOf)).join(''),
  };
}

/** Returns the outline of a box as an SVG path. @param margin pixels around the box */
export function boxPath({ piece, x, width }: Box, margin = 0): string {
  const top = TOPS[piece.lane] + PAD - margin + 0.5;
  const wide = tenths(Math.max(1, width - 1) + 2 * margin);
  return `M${tenths(x + 0.5 - margin)} ${top}h${wide}v${LANE - 2 * PAD + 2 * margin}h${-wide}z`;
}

const tenths = (pixels: number) => Math.round(pixels * 10) / 10;

/** The minimum width in pixels, so that a piece that takes no time stays visible. */
const LEAST_WIDTH = 2;

/**
 * Returns the boxes of the pieces in view. If several narrow boxes of one lane and look begin at the same
 * pixel, only the first is kept.
 */
export function boxesOf(pieces: readonly Piece[], xOf: View['xOf'], width: number): Box[] {
  const drawn = new Map<string, number>();
  const boxes: Box[] = [];
  for (const piece of pieces) {
    const x = xOf(piece.startUs);
    const end = xOf(piece.endUs);
    if (end < 0 || x > width) continue;
    const box = { piece, x, width: Math.max(LEAST_WIDTH, end - x) };
    const key = `${piece.lane} ${piece.look}`;
    if (box.width <= LEAST_WIDTH && drawn.get(key) === Math.round(x)) continue;
    drawn.set(key, Math.round(x));
    boxes.push(box);
  }
  return boxes;
}

/** Returns the labels that fit: on their piece, or after it up to the next piece of the lane. */
export function labelsOf(boxes: readonly Box[], width: number, widthOf: View['widthOf']): Text[] {
  return LANES.flatMap((lane) => {
    const row = boxes.filter(({ piece }) => piece.lane === lane).sort((a, b) => a.x - b.x);
    const labels: Text[] = [];
    let free = Number.NEGATIVE_INFINITY;
    row.forEach((box, i) => {
      const text = box.piece.label;
      const needed = widthOf(text) + 2 * PAD;
      const left = Math.max(0, box.x);
      const end = box.x + box.width;
      const isInside = Math.min(width, end) - left >= needed;
      const x = (isInside ? left : end) + PAD;
      const until = isInside ? end : (row[i + 1]?.x ?? width);
      if (x < free || x + needed - PAD > until) return;
      labels.push({ kind: isInside ? 'inside' : 'beside', x, y: TOPS[lane] + LANE / 2, text });
      free = x + needed - PAD;
    });
    return labels;
  });
}

/**
 * Returns the pauses between the pieces in which a station sends, with their lengths in ms and characters. A
 * pause that is shorter than the gap between the pieces is the silence after frames that are not shown.
 */
export function pausesOf(pieces: readonly Piece[], view: Omit<View, 'ticks'>): Pause[] {
  const { xOf, characterUs, widthOf } = view;
  const speech = pieces.filter(
    ({ lane, look }) => lane === 'received' || (lane === 'sent' && look !== 'missing'),
  );
  const inexactUs = Math.max(INEXACT_US, INEXACT_CHARACTERS * (characterUs ?? 0));
  const pauses: Pause[] = [];
  let lastUs = Number.POSITIVE_INFINITY;
  for (const { startUs, endUs, quietUs = 0 } of speech.sort((a, b) => a.startUs - b.startUs)) {
    // If a pause extends beyond the view, its text is in the middle of the visible part.
    const x = Math.max(xOf(lastUs), -PAD);
    const width = Math.min(xOf(startUs), view.width + PAD) - x;
    if (width >= PAD) {
      const gapUs = startUs - lastUs;
      const isBroken = quietUs > 0 && gapUs > quietUs + inexactUs;
      const texts = isBroken
        ? [`frames not shown, then ${lengthText(quietUs, characterUs)}`, 'frames not shown', '…']
        : [lengthText(gapUs, characterUs), msText(gapUs)];
      const text = texts.find((each) => widthOf(each) + 4 * PAD <= width) ?? '';
      pauses.push({ x, width, text, isBroken });
    }
    lastUs = Number.isFinite(lastUs) ? Math.max(lastUs, endUs) : endUs;
  }
  return pauses;
}

/**
 * Returns the SVG path of a pause: a line with a mark at each end, and a gap for its text in the middle. A
 * broken pause has two strokes on each side of the gap instead of the line.
 */
function pausePath({ x, width, text, isBroken }: Pause, widthOf: View['widthOf']): string {
  const y = PAUSES_TOP + PAUSES / 2;
  const half = (width - 1 - (text === '' ? 0 : widthOf(text) + 2 * PAD)) / 2;
  const [from, to] = [x + 0.5, x + width - 0.5];
  if (isBroken) return [from + half - 8, to - half + 2].map((at) => `M${at} ${y + 4}l3 -8m3 0l-3 8`).join('');
  return `M${from} ${y - 3}v7M${to} ${y - 3}v7M${from} ${y + 0.5}h${half}M${to} ${y + 0.5}h${-half}`;
}
