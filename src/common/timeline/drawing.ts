import { LANES, type Lane, type Piece } from './pieces.js';
import { lengthText, msText } from './times.js';

/** Heights in pixels. */
export const RULER = 22;
const LANE = 26;
const PAUSES = 18;
const PAD = 4;
/** Of a whole strip. */
export const HEIGHT = RULER + LANES.length * LANE + PAUSES;

const TOPS: Readonly<Record<Lane, number>> = {
  received: RULER,
  sent: RULER + LANE,
  planned: RULER + 2 * LANE + PAUSES,
  notes: RULER + 3 * LANE + PAUSES,
};
const PAUSES_TOP = RULER + 2 * LANE;
/** The lines between the rows. */
const ROW_LINES = [...Object.values(TOPS), PAUSES_TOP];

/** The upper edge of a lane. */
export function laneTop(lane: Lane): number {
  return TOPS[lane];
}

/** The lane at a height; undefined on the ruler and between the pauses. */
export function laneAt(y: number): Lane | undefined {
  return LANES.find((lane) => y >= TOPS[lane] && y < TOPS[lane] + LANE);
}

/** Where a piece is drawn, in pixels. */
export interface Box {
  readonly piece: Piece;
  readonly x: number;
  readonly width: number;
}

/** A text of a drawing. `y` is its middle. `inside`: on a piece, whose colour is behind it. */
export interface Text {
  readonly kind: 'tick' | 'inside' | 'beside' | 'pause';
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/** What is seen of a pause between two pieces of speech. `text` is empty where it has no room. */
export interface Pause {
  readonly x: number;
  readonly width: number;
  readonly text: string;
}

/** What a drawing shows, and where. */
interface View {
  /** Where a moment is drawn, in pixels. */
  readonly xOf: (us: number) => number;
  readonly width: number;
  readonly characterUs: number | undefined;
  /** Of a text, in pixels. */
  readonly widthOf: (text: string) => number;
  readonly ticks: readonly { readonly us: number; readonly text: string }[];
}

/** A timing strip as whoever shows it needs it, in pixels. */
export interface Drawing {
  /** In the order of the pieces. */
  readonly boxes: readonly Box[];
  readonly texts: readonly Text[];
  /** The lines of the ruler and between the rows, as an SVG path. */
  readonly grid: string;
  /** The lines of the pauses, with an end at each side, as an SVG path. */
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

/** The outline of a box as an SVG path. @param margin around it */
export function boxPath({ piece, x, width }: Box, margin = 0): string {
  const top = TOPS[piece.lane] + PAD - margin + 0.5;
  const wide = tenths(Math.max(1, width - 1) + 2 * margin);
  return `M${tenths(x + 0.5 - margin)} ${top}h${wide}v${LANE - 2 * PAD + 2 * margin}h${-wide}z`;
}

const tenths = (pixels: number) => Math.round(pixels * 10) / 10;

/** What can be seen of a piece that takes no time. */
const LEAST_WIDTH = 2;

/** The boxes of the pieces that can be seen. Of those that fall on the same pixel of a lane, one is drawn. */
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

/** The labels for which there is room: on their piece, or behind it up to the next one of the lane. */
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

/** The pauses between the pieces in which somebody speaks, with their lengths in ms and characters. */
export function pausesOf(pieces: readonly Piece[], view: Omit<View, 'ticks'>): Pause[] {
  const { xOf, characterUs, widthOf } = view;
  const speech = pieces.filter(
    ({ lane, look }) => lane === 'received' || (lane === 'sent' && look !== 'missing'),
  );
  const pauses: Pause[] = [];
  let quietUs = Number.POSITIVE_INFINITY;
  for (const { startUs, endUs } of speech.sort((a, b) => a.startUs - b.startUs)) {
    // Of a pause that goes on outside, the text stands in the middle of what is seen.
    const x = Math.max(xOf(quietUs), -PAD);
    const width = Math.min(xOf(startUs), view.width + PAD) - x;
    if (width >= PAD) {
      const texts = [lengthText(startUs - quietUs, characterUs), msText(startUs - quietUs)];
      const text = texts.find((each) => widthOf(each) + 4 * PAD <= width) ?? '';
      pauses.push({ x, width, text });
    }
    quietUs = Number.isFinite(quietUs) ? Math.max(quietUs, endUs) : endUs;
  }
  return pauses;
}

/** A line with an end at each side and room for its text in the middle. */
function pausePath({ x, width, text }: Pause, widthOf: View['widthOf']): string {
  const y = PAUSES_TOP + PAUSES / 2;
  const half = (width - 1 - (text === '' ? 0 : widthOf(text) + 2 * PAD)) / 2;
  const [from, to] = [x + 0.5, x + width - 0.5];
  return `M${from} ${y - 3}v7M${to} ${y - 3}v7M${from} ${y + 0.5}h${half}M${to} ${y + 0.5}h${-half}`;
}
