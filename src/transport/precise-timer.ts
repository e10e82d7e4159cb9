/** Where a timer gets its time: `performance.now()`, in ms. */
const now = () => performance.now();

/**
 * The event loop's timers count whole milliseconds from a cached time: they fire up to two of them early or late.
 * So they are used for the coarse wait only, and the rest is watched in turns of the loop, which stays responsive.
 */
const WATCHED_MS = 1.2;

/** Calls `callback` as soon as possible at or after `at`, never before and never at once. Returns how to call it off. */
export function callAt(at: number, callback: () => void): () => void {
  let timeout: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;

  const wait = () => {
    const remaining = at - now();
    if (remaining <= 0) callback();
    else if (remaining > WATCHED_MS + 1) timeout = setTimeout(wait, remaining - WATCHED_MS);
    else immediate = setImmediate(wait);
  };
  if (at - now() > WATCHED_MS + 1) wait();
  else immediate = setImmediate(wait);

  return () => {
    clearTimeout(timeout);
    clearImmediate(immediate);
  };
}
