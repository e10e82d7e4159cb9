import { computed, effect, signal } from '@preact/signals';
import { followTraffic } from '../../live.js';
import { readSoon } from './reading.js';
import { known, target, version, visible } from './state.js';
import { type Touch, touchesOf, trafficOf } from './touches.js';

type Kind = Touch['kind'];

/** The style fades in this time. */
const LASTS_MS = 700;

/** Registers on the screen that clients have just read or written. */
export const flashes = signal<ReadonlyMap<number, Kind>>(new Map());

const ends = new Map<number, { readonly kind: Kind; readonly at: number }>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** The traffic that is wanted, as a text that changes only when it has to. */
const wanted = computed(() => {
  const now = target.value;
  const bits = version.value > 0 ? known.bits : 16;
  return (now && trafficOf(now.device, now.table, visible.value, bits)?.toString()) ?? '';
});

/** Shows what clients touch, until the function that is returned is called. */
export function followTouches(): () => void {
  let leave = () => {};
  const stop = effect(() => {
    leave();
    leave = () => {};
    if (wanted.value === '') return;
    leave = followTraffic({
      filter: new URLSearchParams(wanted.value),
      onBatch: (batch) => {
        const now = target.peek();
        if (now) take(touchesOf(batch, now.device, now.table, known.bits));
      },
    });
  });
  return () => {
    stop();
    leave();
    clearTimeout(timer);
    timer = undefined;
    ends.clear();
    flashes.value = new Map();
  };
}

function take(touches: readonly Touch[]): void {
  const at = performance.now() + LASTS_MS;
  const seen = visible.peek();
  let isSeen = false;
  for (const { kind, from, end } of touches) {
    for (let address = Math.max(from, seen.from); address < Math.min(end, seen.end); address++) {
      isSeen = true;
      const last = ends.get(address);
      // Polling must not hide a write.
      if (kind === 'read' && last?.kind === 'written' && last.at > performance.now()) continue;
      ends.set(address, { kind, at });
    }
  }
  if (!isSeen) return;
  readSoon();
  show();
}

function show(): void {
  const now = performance.now();
  for (const [address, { at }] of ends) if (at <= now) ends.delete(address);
  flashes.value = new Map(Array.from(ends, ([address, { kind }]) => [address, kind]));
  clearTimeout(timer);
  if (ends.size > 0) timer = setTimeout(show, LASTS_MS / 4);
}
