import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** So far beside the window, what is about to be seen counts as seen. */
const MARGIN = '300px';

/** Whether an element is in the window, or near it: what nobody sees need not be drawn anew. */
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
