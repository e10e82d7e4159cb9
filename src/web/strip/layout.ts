import { isSpeech, LANES, type Lane, type Piece } from './piece.js';
import { type Scale, xOf } from './scale.js';
import { lengthText, msText } from './times.js';

/** Where a piece is drawn, in pixels. */
export interface Box {
  readonly piece: Piece;
  readonly x: number;
  readonly width: number;
}

export interface Label {
  readonly lane: Lane;
  readonly text: string;
  readonly x: number;
  /** Whether it stands on its piece, whose colour is behind it. */
  readonly isInside: boolean;
}

/** A pause between two pieces of speech. `text` is empty where it has no room. */
export interface Pause {
  readonly x: number;
  readonly width: number;
  readonly text: string;
}

/** What can be seen of a piece that takes no time. */
const LEAST_WIDTH = 2;
const MARGIN = 4;

/** The boxes of the pieces that can be seen. Of those that fall on the same pixel of a lane, one is drawn. */
export function boxesOf(pieces: readonly Piece[], scale: Scale, width: number): Box[] {
  const drawn = new Map<string, number>();
  const boxes: Box[] = [];
  for (const piece of pieces) {
    const x = xOf(scale, piece.startUs);
    const end = xOf(scale, piece.endUs);
    if (end < 0 || x > width) continue;
    const box = { piece, x, width: Math.max(LEAST_WIDTH, end - x) };
    const key = `${piece.lane} ${piece.look}`;
    if (box.width <= LEAST_WIDTH && drawn.get(key) === Math.round(x)) continue;
    drawn.set(key, Math.round(x));
    boxes.push(box);
  }
  return boxes;
}

/**
 * The labels for which there is room: on their piece, or behind it up to the next one of the lane.
 * @param widthOf of a text, in pixels
 */
export function labelsOf(boxes: readonly Box[], width: number, widthOf: (text: string) => number): Label[] {
  return LANES.flatMap((lane) => {
    const row = boxes.filter(({ piece }) => piece.lane === lane).sort((a, b) => a.x - b.x);
    const labels: Label[] = [];
    let free = Number.NEGATIVE_INFINITY;
    row.forEach((box, i) => {
      const text = box.piece.label;
      const needed = widthOf(text) + 2 * MARGIN;
      const left = Math.max(0, box.x);
      const end = box.x + box.width;
      const isInside = Math.min(width, end) - left >= needed;
      const x = (isInside ? left : end) + MARGIN;
      const until = isInside ? end : (row[i + 1]?.x ?? width);
      if (x < free || x + needed - MARGIN > until) return;
      labels.push({ lane, text, x, isInside });
      free = x + needed - MARGIN;
    });
    return labels;
  });
}

/** The pauses between the pieces in which somebody speaks, with their lengths in ms and characters. */
export function pausesOf(
  pieces: readonly Piece[],
  scale: Scale,
  characterUs: number | undefined,
  widthOf: (text: string) => number,
): Pause[] {
  const speech = pieces.filter(isSpeech).sort((a, b) => a.startUs - b.startUs);
  const pauses: Pause[] = [];
  let quietUs = Number.POSITIVE_INFINITY;
  for (const { startUs, endUs } of speech) {
    const width = (startUs - quietUs) / scale.usPerPixel;
    if (width >= MARGIN) {
      const texts = [lengthText(startUs - quietUs, characterUs), msText(startUs - quietUs)];
      const text = texts.find((each) => widthOf(each) + 4 * MARGIN <= width) ?? '';
      pauses.push({ x: xOf(scale, quietUs), width, text });
    }
    quietUs = Number.isFinite(quietUs) ? Math.max(quietUs, endUs) : endUs;
  }
  return pauses;
}

/** How far beside a piece a pointer may be, in pixels. */
const REACH = 5;

/** The piece at a place of a lane; the nearest one where several are. */
export function pieceAt(boxes: readonly Box[], lane: Lane, x: number): Piece | undefined {
  let [found, nearest] = [undefined as Piece | undefined, REACH];
  for (const box of boxes) {
    if (box.piece.lane !== lane) continue;
    const distance = Math.max(box.x - x, x - box.x - box.width, 0);
    if (distance > nearest || (distance === nearest && found?.look !== 'wait')) continue;
    [found, nearest] = [box.piece, distance];
  }
  return found;
}

/** The beginning or the end of a piece that is near a place, or else the place itself, in µs. */
export function snapped(boxes: readonly Box[], scale: Scale, x: number): number {
  let [us, nearest] = [scale.fromUs + x * scale.usPerPixel, REACH];
  for (const { piece } of boxes) {
    for (const edge of [piece.startUs, piece.endUs]) {
      const distance = Math.abs(xOf(scale, edge) - x);
      if (distance < nearest) [us, nearest] = [edge, distance];
    }
  }
  return us;
}

/** The piece that follows in time, or goes before; undefined at the end. */
export function neighbour(pieces: readonly Piece[], from: Piece, direction: 1 | -1): Piece | undefined {
  const rows = pieces.toSorted(byTime);
  const at = rows.findIndex((each) => byTime(each, from) === 0);
  return at < 0 ? undefined : rows[at + direction];
}

function byTime(a: Piece, b: Piece): number {
  return (
    a.startUs - b.startUs ||
    LANES.indexOf(a.lane) - LANES.indexOf(b.lane) ||
    a.id - b.id ||
    a.words.localeCompare(b.words)
  );
}
