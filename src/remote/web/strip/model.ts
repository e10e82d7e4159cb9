import { batch, computed, signal } from '@preact/signals';
import { type Box, HEIGHT, laneAt, RULER } from '../../../common/timeline/drawing.js';
import { LANES, type Lane, type Piece, type Wire } from '../../../common/timeline/pieces.js';
import { lengthText, type Ruler, rulerFrom } from '../../../common/timeline/times.js';

/** The time range that a strip shows: `fromUs` at its left edge, then `usPerPixel`. */
interface Scale {
  readonly fromUs: number;
  readonly usPerPixel: number;
}

/** Limits of the scale in µs per pixel, from a fifth of a µs to a minute. */
const FINEST = 0.2;
const COARSEST = 60e6;

export function xOf({ fromUs, usPerPixel }: Scale, us: number): number {
  return (us - fromUs) / usPerPixel;
}

export function usAt({ fromUs, usPerPixel }: Scale, x: number): number {
  return fromUs + x * usPerPixel;
}

/** Scales everything by `factor`. The time at `x` stays in place. */
export function zoomed(scale: Scale, factor: number, x: number): Scale {
  const usPerPixel = bounded(scale.usPerPixel / factor);
  return { fromUs: usAt(scale, x) - x * usPerPixel, usPerPixel };
}

/** Moves the content by a number of pixels; to the right if it is positive. */
function moved({ fromUs, usPerPixel }: Scale, pixels: number): Scale {
  return { fromUs: fromUs - pixels * usPerPixel, usPerPixel };
}

/** The scale that shows a time range, with a tenth of the width free on both sides. */
export function fitted(startUs: number, endUs: number, width: number): Scale {
  const usPerPixel = bounded((endUs - startUs) / (0.8 * width));
  return centred({ fromUs: 0, usPerPixel }, (startUs + endUs) / 2, width);
}

/** The scale that shows a time in the middle. */
function centred({ usPerPixel }: Scale, us: number, width: number): Scale {
  return { fromUs: us - (width / 2) * usPerPixel, usPerPixel };
}

/** The scale after two fingers have moved: each still has the same time under it. */
export function pinched(
  scale: Scale,
  before: readonly [number, number],
  after: readonly [number, number],
): Scale {
  const middle = (before[0] + before[1]) / 2;
  const shift = (after[0] + after[1]) / 2 - middle;
  const spread = Math.abs(before[1] - before[0]);
  const factor = spread > 0 ? Math.abs(after[1] - after[0]) / spread : 1;
  return moved(factor > 0 ? zoomed(scale, factor, middle) : scale, shift);
}

function bounded(usPerPixel: number): number {
  return Math.min(COARSEST, Math.max(FINEST, usPerPixel));
}

/** The content of a strip. A change makes a new object. */
export interface Source {
  readonly wire: Wire;
  /** The start of the first piece, and the end of the last one. */
  readonly oldestUs: number;
  readonly newestUs: number;
  /** The ruler around a time; undefined while there is nothing to draw. */
  readonly rulerAt: (us: number) => Ruler | undefined;
  /** The pieces in a time range; more pieces do no harm. */
  readonly piecesIn: (fromUs: number, toUs: number) => readonly Piece[];
}

const WIRE: Wire = { characterUs: undefined, t35Us: undefined };

/** A source whose pieces are all known. @param zeroUs zero of its ruler; the first piece when absent */
export function sourceOf(pieces: readonly Piece[], wire = WIRE, zeroUs?: number): Source {
  const starts = pieces.reduce((least, { startUs }) => Math.min(least, startUs), Number.POSITIVE_INFINITY);
  const oldestUs = pieces.length === 0 ? 0 : starts;
  const newestUs = pieces.reduce((most, { endUs }) => Math.max(most, endUs), oldestUs);
  const ruler = pieces.length === 0 ? undefined : rulerFrom(zeroUs ?? oldestUs);
  return { wire, oldestUs, newestUs, rulerAt: () => ruler, piecesIn: () => pieces };
}

/** The fraction of the width that stays free for new pieces. */
const AHEAD = 0.06;
const FIRST_US_PER_PIXEL = 100;

/**
 * The state of a strip: its content and the range that it shows. The owner sets the source; the strip and its
 * keys do the rest.
 */
export class StripModel {
  readonly source = signal<Source>(sourceOf([]));
  readonly scale = signal<Scale>({ fromUs: 0, usPerPixel: FIRST_US_PER_PIXEL });
  /** Width in pixels; 0 until the strip is drawn. */
  readonly width = signal(0);
  /** Whether the newest piece stays in view. */
  readonly isFollowing = signal(true);
  /** The piece described below the strip. */
  readonly focus = signal<Piece | undefined>(undefined);
  /** The cursors in µs: none, one, or two with a measured time between them. */
  readonly cursors = signal<readonly number[]>([]);

  /** The time between the cursors; undefined without two of them. */
  readonly measured = computed(() => {
    const [a, b] = this.cursors.value;
    if (a === undefined || b === undefined) return undefined;
    return lengthText(Math.abs(b - a), this.source.value.wire.characterUs);
  });

  /** Sets the content. A strip that follows shows its end. */
  setSource(source: Source): void {
    batch(() => {
      this.source.value = source;
      if (this.isFollowing.peek()) this.#toEnd();
    });
  }

  resize(width: number): void {
    batch(() => {
      this.width.value = width;
      if (this.isFollowing.peek()) this.#toEnd();
    });
  }

  follow(): void {
    batch(() => {
      this.isFollowing.value = true;
      this.#toEnd();
    });
  }

  /** Shows all of the content. If there is none, shows new pieces as they arrive. */
  fit(): void {
    const { oldestUs, newestUs } = this.source.peek();
    if (newestUs > oldestUs) this.look(fitted(oldestUs, newestUs, this.width.peek() || 1));
  }

  /** Shows another range, and stops following. */
  look(scale: Scale): void {
    batch(() => {
      this.isFollowing.value = false;
      this.scale.value = scale;
    });
  }

  centre(us: number): void {
    this.look(centred(this.scale.peek(), us, this.width.peek()));
  }

  move(pixels: number): void {
    this.look(moved(this.scale.peek(), pixels));
  }

  /** Zooms around the piece in focus, or the middle. A strip that follows continues to follow. */
  zoom(factor: number, x = this.#anchor()): void {
    batch(() => {
      this.scale.value = zoomed(this.scale.peek(), factor, x);
      if (this.isFollowing.peek()) this.#toEnd();
    });
  }

  /** Moves the focus to the next or previous piece, or to the first one in view. */
  step(direction: 1 | -1): void {
    const { piecesIn, oldestUs, newestUs } = this.source.peek();
    const from = this.focus.peek();
    const scale = this.scale.peek();
    const toUs = usAt(scale, this.width.peek());
    const next = from
      ? neighbour(piecesIn(oldestUs, newestUs), from, direction)
      : piecesIn(scale.fromUs, toUs)
          .filter(({ startUs }) => startUs >= scale.fromUs && startUs <= toUs)
          .toSorted((a, b) => a.startUs - b.startUs)
          .at(direction > 0 ? 0 : -1);
    if (next) this.focusOn(next);
  }

  focusOn(piece: Piece): void {
    this.focus.value = piece;
    const x = xOf(this.scale.peek(), piece.startUs);
    if (x < 0 || x > this.width.peek()) this.centre(piece.startUs);
    else this.isFollowing.value = false;
  }

  /** Sets the first cursor, then the second; a third call starts again with the first. */
  setCursor(us: number): void {
    const now = this.cursors.peek();
    this.cursors.value = now.length === 1 ? [...now, us] : [us];
  }

  #anchor(): number {
    const piece = this.focus.peek();
    const x = piece && xOf(this.scale.peek(), piece.startUs);
    return x !== undefined && x >= 0 && x <= this.width.peek() ? x : this.width.peek() / 2;
  }

  #toEnd(): void {
    const { usPerPixel } = this.scale.peek();
    const fromUs = this.source.peek().newestUs - (1 - AHEAD) * this.width.peek() * usPerPixel;
    this.scale.value = { fromUs, usPerPixel };
  }
}

/** The next or previous piece in time; undefined at the end. */
export function neighbour(pieces: readonly Piece[], from: Piece, direction: 1 | -1): Piece | undefined {
  const row = pieces.toSorted(byTime);
  const at = row.findIndex((each) => byTime(each, from) === 0);
  return at < 0 ? undefined : row[at + direction];
}

function byTime(a: Piece, b: Piece): number {
  return (
    a.startUs - b.startUs ||
    LANES.indexOf(a.lane) - LANES.indexOf(b.lane) ||
    a.id - b.id ||
    a.words.localeCompare(b.words)
  );
}

/** Longest movement of a pointer, in pixels, that counts as a click. */
const CLICK = 4;

interface Pointer {
  readonly startX: number;
  readonly x: number;
}

interface Owner {
  /** The boxes currently drawn. */
  readonly boxes: () => readonly Box[];
  readonly onPick: (piece: Piece) => void;
  /** Called for a click where there is neither a ruler nor a piece. */
  readonly onClick?: (us: number) => void;
  /** Whether a turn of the wheel zooms instead of scrolling the page; always zooms when absent. */
  readonly takesWheel?: (event: WheelEvent) => boolean;
}

/**
 * Zooms, moves and measures a strip by mouse, wheel and fingers, until the returned function is called. One
 * pointer moves the strip, or measures if it is on the ruler; two pinch.
 */
export function followGestures(drawing: Element, model: StripModel, owner: Owner): () => void {
  const { boxes, onPick, onClick, takesWheel } = owner;
  const pointers = new Map<number, Pointer>();
  let measuresFrom: number | undefined;
  /** The scale when the number of fingers last changed. */
  let begin: Scale = model.scale.peek();

  const pointOf = ({ clientX, clientY }: MouseEvent) => {
    const { left, top } = drawing.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  const rebase = () => {
    begin = model.scale.peek();
    for (const [id, { x }] of pointers) pointers.set(id, { startX: x, x });
  };

  const down = (event: PointerEvent) => {
    const { x, y } = pointOf(event);
    drawing.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { startX: x, x });
    rebase();
    measuresFrom = y < RULER && pointers.size === 1 && !onClick ? snapped(boxes(), begin, x) : undefined;
  };

  const move = (event: PointerEvent) => {
    const pointer = pointers.get(event.pointerId);
    if (!pointer) return;
    const { x } = pointOf(event);
    pointers.set(event.pointerId, { ...pointer, x });
    const [one, other] = [...pointers.values()];
    if (one && other) {
      model.look(pinched(begin, [one.startX, other.startX], [one.x, other.x]));
    } else if (measuresFrom !== undefined) {
      model.cursors.value = [measuresFrom, snapped(boxes(), model.scale.peek(), x)];
    } else if (Math.abs(x - pointer.startX) >= CLICK) {
      model.look({ ...begin, fromUs: begin.fromUs - (x - pointer.startX) * begin.usPerPixel });
    }
  };

  const up = (event: PointerEvent) => {
    const pointer = pointers.get(event.pointerId);
    const isOnly = pointers.size === 1;
    pointers.delete(event.pointerId);
    rebase();
    if (!pointer || !isOnly || event.type !== 'pointerup') return;
    const { x, y } = pointOf(event);
    if (Math.abs(x - pointer.startX) >= CLICK) return;
    if (measuresFrom !== undefined) {
      model.setCursor(measuresFrom);
      return;
    }
    if (onClick) {
      onClick(usAt(model.scale.peek(), x));
      return;
    }
    const lane = y < HEIGHT ? laneAt(y) : undefined;
    const piece = lane && pieceAt(boxes(), lane, x);
    if (piece) onPick(piece);
  };

  const wheel = (event: WheelEvent) => {
    if (takesWheel?.(event) === false) return;
    event.preventDefault();
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (Math.abs(sideways) > (event.shiftKey ? 0 : Math.abs(event.deltaY))) model.move(-sideways);
    else model.zoom(Math.exp(-event.deltaY / 400), pointOf(event).x);
  };

  const listeners = { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up, wheel };
  for (const [name, listener] of Object.entries(listeners))
    drawing.addEventListener(name, listener as EventListener, { passive: false });
  return () => {
    for (const [name, listener] of Object.entries(listeners))
      drawing.removeEventListener(name, listener as EventListener);
  };
}

/** Maximum distance of a pointer from a piece that still hits it, in pixels. */
const REACH = 5;

/** The piece at a point in a lane; the nearest one if there are several. */
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

/** The edge of a piece near `x`, or else the time at `x`, in µs. */
export function snapped(boxes: readonly Box[], scale: Scale, x: number): number {
  let [us, nearest] = [usAt(scale, x), REACH];
  for (const { piece } of boxes) {
    for (const edge of [piece.startUs, piece.endUs]) {
      const distance = Math.abs(xOf(scale, edge) - x);
      if (distance < nearest) [us, nearest] = [edge, distance];
    }
  }
  return us;
}
