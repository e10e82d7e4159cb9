import { boxPath, drawingOf, HEIGHT } from '../../src/common/timeline/drawing.js';
import { LOOKS, type Piece, piecesOf } from '../../src/common/timeline/pieces.js';
import { rulerFrom, TICK, ticksOf } from '../../src/common/timeline/times.js';
import { pdusOf, type Shown } from './address.js';
import { type Played, play } from './bench.js';

/** How long a character is drawn on lines whose characters take no time, in µs. */
const NO_CHARACTER_US = 20;

/** The pieces of what passed. On sockets, bytes get a length that can be seen. */
export function drawn({ wire, traffic }: Pick<Played, 'wire' | 'traffic'>): Piece[] {
  return traffic.flatMap((event) => {
    const pieces = piecesOf(event, wire);
    if (wire.characterUs !== undefined) return pieces;
    const us = (NO_CHARACTER_US * (event.bytes?.length ?? 0)) / 3;
    return pieces.map((piece) => {
      if (piece.lane === 'received') return { ...piece, startUs: piece.startUs - us };
      const isMoment = piece.startUs === piece.endUs && piece.lane !== 'notes';
      return isMoment ? { ...piece, endUs: piece.endUs + us } : piece;
    });
  });
}

const WIDTH = 760;
/** The room that is left at both sides, in pixels. */
const ROOM = 12;
/** The width of a character of a label, in pixels. */
const CHARACTER = 6.7;

/** The strip of an example as an SVG image, which takes its colours from the classes of its parts. */
export function svgOf(shown: Shown): string {
  const pdus = pdusOf(shown.pdu);
  if (typeof pdus === 'string') throw new Error(pdus);
  const played = play(shown.file, { ...shown, pdus });
  if (played.problems.length > 0) throw new Error(JSON.stringify(played.problems));
  const pieces = drawn(played);
  const fromUs = Math.min(...pieces.map(({ startUs }) => startUs));
  const toUs = Math.max(...pieces.map(({ endUs }) => endUs));
  const usPerPixel = (toUs - fromUs) / (WIDTH - 2 * ROOM - 100);
  const { boxes, texts, grid, pauses } = drawingOf(pieces, {
    xOf: (us) => ROOM + (us - fromUs) / usPerPixel,
    width: WIDTH,
    characterUs: played.wire.characterUs,
    widthOf: (text) => CHARACTER * text.length,
    ticks: ticksOf(rulerFrom(0), fromUs, toUs, TICK * usPerPixel),
  });
  const paths = LOOKS.map((look) => [look, boxes.filter((box) => box.piece.look === look)] as const)
    .filter(([, some]) => some.length > 0)
    .map(([look, some]) => `<path class="piece ${look}" d="${some.map((box) => boxPath(box)).join('')}"/>`);
  const words = texts.map(
    ({ kind, x, y, text }) => `<text class="${kind}" x="${x.toFixed(1)}" y="${y}">${escaped(text)}</text>`,
  );
  return `<svg class="drawing" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" role="img" aria-label="What passes the line, to scale"><path class="grid" d="${grid}"/>${paths.join('')}<path class="pauses" d="${pauses}"/>${words.join('')}</svg>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
