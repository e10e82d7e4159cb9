import { effect } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { keepPainted } from '../ui/canvas.js';
import { draw, HEIGHT } from './draw.js';
import { followGestures } from './gestures.js';
import type { Box } from './layout.js';
import type { StripModel } from './model.js';
import { LANES } from './piece.js';
import './strip.css';

interface StripProps {
  readonly model: StripModel;
  /** Says of what it is. */
  readonly label: string;
  /** The event whose pieces stand out. */
  readonly selected?: number | undefined;
  readonly onSelect?: (id: number) => void;
}

/**
 * What passed a line, to scale, as a logic analyser shows it. The piece in focus is told in words below, and so is what
 * the cursors measure.
 */
export function Strip({ model, label, selected, onSelect }: StripProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const help = useId();
  const now = useRef({ selected, onSelect });
  now.current = { selected, onSelect };
  const redraw = useRef(() => {});

  useEffect(() => {
    const element = canvas.current as HTMLCanvasElement;
    let boxes: Box[] = [];
    const painted = keepPainted(element, HEIGHT, {
      paint: (context, palette) => {
        boxes = draw(context, model, palette, now.current.selected);
      },
      onResize: (width) => model.resize(width),
    });
    redraw.current = painted.redraw;
    const ends = [
      painted.end,
      followGestures(element, model, {
        boxes: () => boxes,
        onPick: (piece) => {
          model.focusOn(piece);
          now.current.onSelect?.(piece.id);
        },
      }),
      effect(() => {
        void [
          model.scale.value,
          model.width.value,
          model.source.value,
          model.focus.value,
          model.cursors.value,
        ];
        painted.redraw();
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, [model]);
  useEffect(() => redraw.current(), [selected]);

  const { focus, measured } = model;
  return html`<div class="strip">
    <div class="lanes" aria-hidden="true">${LANES.map((lane) => html`<span>${lane}</span>`)}</div>
    <div class="field-of-view" role="application" tabindex="0" aria-label=${label} aria-describedby=${help}
      aria-roledescription="timing strip"
      onKeyDown=${(event: KeyboardEvent) => {
        if (pressed(model, event, onSelect)) event.preventDefault();
      }}>
      <canvas ref=${canvas} height=${HEIGHT}></canvas>
    </div>
    <p class="told" role="status">
      <span class="long">${focus.value?.words ?? HINT}</span>
      <b class="mono">${measured.value === undefined ? '' : `A–B ${measured.value}`}</b>
    </p>
    <p class="unseen" id=${help}>${KEYS}</p>
  </div>`;
}

const HINT = 'Drag to move, wheel or pinch to zoom, drag on the ruler to measure.';
const KEYS =
  'Left and right go from piece to piece, with Shift they move the strip. Plus and minus zoom, 0 shows all, Home goes to the beginning, End follows what comes, M sets a cursor, Escape takes the cursors away, Enter opens the event.';

const ZOOM = 1.5;
const MOVE = 0.25;

/** Does what a key is for. @returns false for keys that are for nothing here */
function pressed(model: StripModel, event: KeyboardEvent, onSelect: StripProps['onSelect']): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const piece = model.focus.peek();
  const { oldestUs } = model.source.peek();
  switch (event.key) {
    case 'ArrowLeft':
    case 'ArrowRight': {
      const direction = event.key === 'ArrowRight' ? 1 : -1;
      if (event.shiftKey) model.move(-direction * MOVE * model.width.peek());
      else model.step(direction);
      return true;
    }
    case '+':
    case '=':
      model.zoom(ZOOM);
      return true;
    case '-':
      model.zoom(1 / ZOOM);
      return true;
    case '0':
      model.fit();
      return true;
    case 'Home':
      model.look({ ...model.scale.peek(), fromUs: oldestUs });
      return true;
    case 'End':
      model.follow();
      return true;
    case 'm':
      if (piece) model.setCursor(piece.startUs);
      return true;
    case 'M':
      if (piece) model.setCursor(piece.endUs);
      return true;
    case 'Escape':
      model.cursors.value = [];
      return true;
    case 'Enter':
      if (piece) onSelect?.(piece.id);
      return true;
    default:
      return false;
  }
}
