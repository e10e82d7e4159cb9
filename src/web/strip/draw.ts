import type { Ink, Palette } from '../ui/palette.js';
import { type Box, boxesOf, labelsOf, type Pause, pausesOf } from './layout.js';
import type { StripModel } from './model.js';
import { LANES, type Lane, type Look } from './piece.js';
import { ticks, usAt, xOf } from './scale.js';

/** Heights in pixels. */
export const RULER = 22;
const LANE = 26;
const PAUSES = 18;
const PAD = 4;

const TOPS: Readonly<Record<Lane, number>> = {
  received: RULER,
  sent: RULER + LANE,
  planned: RULER + 2 * LANE + PAUSES,
  notes: RULER + 3 * LANE + PAUSES,
};
const PAUSES_TOP = RULER + 2 * LANE;

/** Of the whole strip. */
export const HEIGHT = RULER + LANES.length * LANE + PAUSES;

/** The lane at a height; undefined on the ruler and between the pauses. */
export function laneAt(y: number): Lane | undefined {
  return LANES.find((lane) => y >= TOPS[lane] && y < TOPS[lane] + LANE);
}

/** The line around a piece, and what is inside. */
const COLOURS: Readonly<Record<Look, readonly [line: Ink, inside: Ink]>> = {
  ours: ['accent', 'accent-tint'],
  foreign: ['dim', 'edge'],
  damaged: ['bad', 'bad-tint'],
  break: ['bad', 'bad'],
  planned: ['dim', 'panel'],
  wait: ['edge', 'edge'],
  missing: ['bad', 'panel'],
  fault: ['warn', 'warn-tint'],
  mark: ['ink', 'ink'],
};

/** Draws what the model shows. @returns the boxes, for whoever points at them */
export function draw(
  context: CanvasRenderingContext2D,
  model: StripModel,
  palette: Palette,
  selected: number | undefined,
): Box[] {
  const scale = model.scale.value;
  const width = model.width.value;
  const { wire, piecesIn, tickText } = model.source.value;
  const pieces = piecesIn(scale.fromUs, usAt(scale, width));
  const boxes = boxesOf(pieces, scale, width);
  const widthOf = (text: string) => context.measureText(text).width;

  context.fillStyle = palette.panel;
  context.fillRect(0, 0, width, HEIGHT);
  drawRuler(context, palette);
  for (const box of boxes) drawBox(context, box, palette, box.piece.id === selected);
  for (const { lane, text, x, isInside } of labelsOf(boxes, width, widthOf)) {
    context.fillStyle = isInside ? palette.ink : palette.dim;
    context.fillText(text, x, TOPS[lane] + LANE / 2);
  }
  for (const pause of pausesOf(pieces, scale, wire.characterUs, widthOf)) drawPause(context, pause, palette);
  drawFocus();
  drawCursors();
  return boxes;

  function drawRuler(to: CanvasRenderingContext2D, { edge, dim }: Palette): void {
    const { stepUs, at } = ticks(scale, width);
    for (const us of at) {
      const x = Math.round(xOf(scale, us)) + 0.5;
      to.fillStyle = edge;
      to.fillRect(x, 0, 1, HEIGHT);
      to.fillStyle = dim;
      to.fillText(tickText(us, stepUs), x + PAD, RULER / 2);
    }
    to.fillStyle = edge;
    for (const top of [RULER, ...Object.values(TOPS), PAUSES_TOP]) to.fillRect(0, top, width, 1);
  }

  function drawFocus(): void {
    const piece = model.focus.value;
    if (!piece) return;
    const x = xOf(scale, piece.startUs);
    const end = Math.max(x + 2, xOf(scale, piece.endUs));
    context.strokeStyle = palette.ink;
    context.lineWidth = 2;
    context.strokeRect(x - 2, TOPS[piece.lane] + 2, end - x + 4, LANE - 3);
    context.lineWidth = 1;
  }

  function drawCursors(): void {
    const cursors = model.cursors.value;
    const places = cursors.map((us) => xOf(scale, us));
    const [a, b] = places;
    context.fillStyle = palette.warn;
    places.forEach((x, i) => {
      context.fillRect(Math.round(x), 0, 1, HEIGHT);
      context.fillText('AB'.charAt(i), x + 3, RULER - 6);
    });
    if (a === undefined || b === undefined) return;
    context.globalAlpha = 0.16;
    context.fillRect(Math.min(a, b), 0, Math.abs(b - a), HEIGHT);
    context.globalAlpha = 1;
  }
}

function drawBox(context: CanvasRenderingContext2D, box: Box, palette: Palette, isSelected: boolean): void {
  const { piece, x, width } = box;
  const [line, inside] = COLOURS[piece.look];
  const isReply = piece.lane === 'sent' && piece.look === 'ours';
  const top = TOPS[piece.lane] + PAD;
  const height = LANE - 2 * PAD + 1;
  context.fillStyle = palette[isReply ? 'good-tint' : inside];
  context.strokeStyle = isSelected ? palette.ink : palette[isReply ? 'good' : line];
  if (piece.look === 'wait') {
    context.globalAlpha = 0.6;
    context.fillRect(x, top, width, height);
    context.globalAlpha = 1;
    return;
  }
  context.fillRect(x, top, width, height);
  context.setLineDash(piece.look === 'planned' || piece.look === 'missing' ? [3, 2] : []);
  context.lineWidth = isSelected ? 2 : 1;
  if (width < 3) {
    context.fillStyle = context.strokeStyle;
    context.fillRect(x, top, width, height);
  } else context.strokeRect(x + 0.5, top + 0.5, width - 1, height - 1);
  context.setLineDash([]);
  context.lineWidth = 1;
}

/** A line with an end at each side, as on drawings, and its length in the middle. */
function drawPause(context: CanvasRenderingContext2D, { x, width, text }: Pause, palette: Palette): void {
  const y = PAUSES_TOP + PAUSES / 2;
  context.fillStyle = palette.dim;
  context.fillRect(x, y - 3, 1, 7);
  context.fillRect(x + width - 1, y - 3, 1, 7);
  const room = text === '' ? 0 : context.measureText(text).width + 2 * PAD;
  const middle = x + width / 2;
  context.fillRect(x, y, (width - room) / 2, 1);
  context.fillRect(middle + room / 2, y, (width - room) / 2, 1);
  if (text !== '') context.fillText(text, middle - room / 2 + PAD, y);
}
