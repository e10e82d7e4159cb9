import { batch, computed, signal } from '@preact/signals';
import { neighbour } from './layout.js';
import type { Piece, Wire } from './piece.js';
import { centred, fitted, moved, type Scale, usAt, xOf, zoomed } from './scale.js';
import { lengthText, type TickText, ticksFrom } from './times.js';

/** What a strip draws. Another object where something has changed. */
export interface Source {
  readonly wire: Wire;
  /** From the beginning of the first piece to the end of the last one. */
  readonly oldestUs: number;
  readonly newestUs: number;
  readonly tickText: TickText;
  /** The pieces of a part of the time; more are no harm. */
  readonly piecesIn: (fromUs: number, toUs: number) => readonly Piece[];
}

const WIRE = { characterUs: undefined, t35Us: undefined };

/** A source of pieces that are all there, such as those of one planned reply. Its ruler counts from `originUs`. */
export function sourceOf(pieces: readonly Piece[], wire: Wire = WIRE, originUs = 0): Source {
  const oldestUs = pieces.reduce((least, { startUs }) => Math.min(least, startUs), originUs);
  const newestUs = pieces.reduce((most, { endUs }) => Math.max(most, endUs), originUs);
  return { wire, oldestUs, newestUs, tickText: ticksFrom(originUs), piecesIn: () => pieces };
}

/** The share of the width that stays free for what comes. */
const AHEAD = 0.06;
const FIRST_US_PER_PIXEL = 100;

/** What a strip shows and where. Its owner sets the source; the strip and its keys do the rest. */
export class StripModel {
  readonly source = signal<Source>(sourceOf([]));
  readonly scale = signal<Scale>({ fromUs: 0, usPerPixel: FIRST_US_PER_PIXEL });
  /** In pixels; 0 until it is drawn. */
  readonly width = signal(0);
  /** Whether the newest piece stays in view. */
  readonly isFollowing = signal(true);
  /** The piece that is told in words. */
  readonly focus = signal<Piece | undefined>(undefined);
  /** The cursors: none, one, or the two between which is measured. */
  readonly cursors = signal<readonly number[]>([]);

  /** What lies between the cursors; undefined without two of them. */
  readonly measured = computed(() => {
    const [a, b] = this.cursors.value;
    if (a === undefined || b === undefined) return undefined;
    return lengthText(Math.abs(b - a), this.source.value.wire.characterUs);
  });

  /** Takes what there is now; a strip that follows shows the end of it. */
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

  /** Shows all that there is. Where there is nothing yet, what comes is still followed. */
  fit(): void {
    const { oldestUs, newestUs } = this.source.peek();
    if (newestUs > oldestUs) this.look(fitted(oldestUs, newestUs, this.width.peek() || 1));
  }

  /** Shows another time, and stands still there. */
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

  /** Zooms around the piece in focus, or the middle; a strip that follows goes on following. */
  zoom(factor: number, x = this.#anchor()): void {
    batch(() => {
      this.scale.value = zoomed(this.scale.peek(), factor, x);
      if (this.isFollowing.peek()) this.#toEnd();
    });
  }

  /** Brings the piece after or before the one in focus into focus; without one, the first in view, or the nearest. */
  step(direction: 1 | -1): void {
    const { piecesIn, oldestUs, newestUs } = this.source.peek();
    const from = this.focus.peek();
    const pieces = piecesIn(oldestUs, newestUs);
    const next = from ? neighbour(pieces, from, direction) : this.#entry(pieces, direction);
    if (next) this.focusOn(next);
  }

  /** Where somebody begins who has no piece in focus. */
  #entry(pieces: readonly Piece[], direction: 1 | -1): Piece | undefined {
    const scale = this.scale.peek();
    const toUs = usAt(scale, this.width.peek());
    const inView = pieces.filter(({ startUs }) => startUs >= scale.fromUs && startUs <= toUs);
    const first = inView.toSorted((a, b) => a.startUs - b.startUs).at(direction > 0 ? 0 : -1);
    const middleUs = (scale.fromUs + toUs) / 2;
    const distance = ({ startUs }: Piece) => Math.abs(startUs - middleUs);
    return first ?? pieces.toSorted((a, b) => distance(a) - distance(b))[0];
  }

  focusOn(piece: Piece): void {
    this.focus.value = piece;
    const x = xOf(this.scale.peek(), piece.startUs);
    if (x < 0 || x > this.width.peek()) this.centre(piece.startUs);
    else this.isFollowing.value = false;
  }

  /** Sets the first cursor, then the second one; a third time begins anew. */
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
