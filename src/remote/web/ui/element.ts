import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/**
 * Calls a function with the initial size of an element and whenever the size changes, until the returned
 * function is called.
 */
export function followSize(element: Element, act: () => void): () => void {
  const observer = new ResizeObserver(act);
  observer.observe(element);
  return () => observer.disconnect();
}

/** Combines functions that stop something, as the cleanup of an effect with several followers. */
export function together(...stops: readonly (() => void)[]): () => void {
  return () => {
    for (const stop of stops) stop();
  };
}

/** Distance from the window within which an element counts as visible. */
const MARGIN = '300px';

/** Whether an element is in or near the window. Elements that are not visible need not be redrawn. */
export function useSeen(element: RefObject<Element | null>): boolean {
  const isSeen = useSignal(true);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        isSeen.value = entries.at(-1)?.isIntersecting === true;
      },
      { rootMargin: MARGIN },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return isSeen.value;
}

/** The font of text in drawings: `.drawing text` in base.css. */
const FONT = '11px ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", "Liberation Mono", Menlo, monospace';
let context: CanvasRenderingContext2D | null = null;

/** The width of text in a drawing, in pixels. */
export function textWidth(text: string): number {
  context ??= document.createElement('canvas').getContext('2d');
  if (!context) return 0;
  context.font = FONT;
  return context.measureText(text).width;
}
