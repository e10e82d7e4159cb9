import { type Box, HEIGHT, laneAt, RULER } from '../../../common/timeline/drawing.js';
import type { Lane, Piece } from '../../../common/timeline/pieces.js';
import { pinched, type Scale, type StripModel, usAt, xOf } from './model.js';

/** Longest movement of a pointer, in pixels, that counts as a click. */
const CLICK = 4;

interface Pointer {
  readonly startX: number;
  readonly x: number;
}

interface Owner {
  /** The boxes that are drawn now. */
  readonly boxes: () => readonly Box[];
  readonly onPick: (piece: Piece) => void;
}

/**
 * Zooms, moves and measures a strip by mouse, wheel and fingers, until the returned function is called. One
 * pointer moves the strip, or measures if it is on the ruler; two pinch.
 */
export function followGestures(drawing: Element, model: StripModel, { boxes, onPick }: Owner): () => void {
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
    measuresFrom = y < RULER && pointers.size === 1 ? snapped(boxes(), begin, x) : undefined;
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
    const lane = y < HEIGHT ? laneAt(y) : undefined;
    const piece = lane && pieceAt(boxes(), lane, x);
    if (piece) onPick(piece);
  };

  const wheel = (event: WheelEvent) => {
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

/** Farthest distance of a pointer from a piece that still hits it, in pixels. */
const REACH = 5;

/** The piece at a point of a lane; the nearest one if there are several. */
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

/** The edge of a piece near `x`, or else the moment at `x`, in µs. */
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
