import { effect } from '@preact/signals';
import { theme } from '../theme.js';
import { type Palette, paletteOf } from './palette.js';

interface Painter {
  /** Paints all of it, `width` pixels of CSS wide; is called once a frame at most. */
  readonly paint: (context: CanvasRenderingContext2D, palette: Palette, width: number) => void;
  readonly onResize?: (width: number) => void;
}

interface Painted {
  /** Paints before the next frame. */
  readonly redraw: () => void;
  readonly end: () => void;
}

const FONT = '11px "DejaVu Sans Mono", ui-monospace, Menlo, monospace';

/** Keeps a canvas painted: sharp on each screen, as wide as its place, and in the colours of the theme. */
export function keepPainted(
  canvas: HTMLCanvasElement,
  height: number,
  { paint, onResize }: Painter,
): Painted {
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  let palette = paletteOf(canvas);
  let [frame, width] = [0, 0];
  const repaint = () => {
    frame = 0;
    const ratio = devicePixelRatio;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    context.textBaseline = 'middle';
    paint(context, palette, width);
  };
  const redraw = () => {
    frame ||= requestAnimationFrame(repaint);
  };
  const recolour = () => {
    palette = paletteOf(canvas);
    redraw();
  };
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', recolour);
  const observer = new ResizeObserver(() => {
    width = canvas.clientWidth;
    onResize?.(width);
    redraw();
  });
  observer.observe(canvas);
  const stop = effect(() => {
    theme.value;
    // The attribute of the page is set by an effect, too.
    queueMicrotask(recolour);
  });
  return {
    redraw,
    end: () => {
      stop();
      dark.removeEventListener('change', recolour);
      observer.disconnect();
      cancelAnimationFrame(frame);
    },
  };
}
