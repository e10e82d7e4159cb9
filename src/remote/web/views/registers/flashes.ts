import { computed, effect, signal } from '@preact/signals';
import { followTraffic } from '../../live.js';
import { readSoon } from './reading.js';
import { known, target, version, visible } from './state.js';
import { type Touch, touchesOf, trafficOf } from './touches.js';

type TouchKind = Touch['kind'];

/** Time in ms in which a mark fades. */
const LASTS_MS = 700;

/** Minimum time in ms before a fading mark restarts, however fast a client polls: each restart draws its row. */
const AGAIN_MS = 250;

export interface Flash {
  readonly kind: TouchKind;
  /** Alternates with each restart, so that the style fades again. */
  readonly isAgain: boolean;
}

interface Begun extends Flash {
  readonly since: number;
  readonly until: number;
}

/** Visible registers that clients have just read or written. */
export const flashes = signal<ReadonlyMap<number, Flash>>(new Map());

const begun = new Map<number, Begun>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** The filter of the traffic, as text that changes only with the filter. */
const wanted = computed(() => {
  const now = target.value;
  const bits = version.value > 0 ? known.bits : 16;
  return (now && trafficOf(now.device, now.table, visible.value, bits)?.toString()) ?? '';
});

/** Marks the registers that clients read or write, until the returned function is called. */
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
    begun.clear();
    flashes.value = new Map();
  };
}

function take(touches: readonly Touch[]): void {
  const now = performance.now();
  const seen = visible.peek();
  let isSeen = false;
  for (const { kind, from, end } of touches) {
    for (let address = Math.max(from, seen.from); address < Math.min(end, seen.end); address++) {
      isSeen = true;
      const last = begun.get(address);
      // Polling must not hide a write.
      if (kind === 'read' && last?.kind === 'written' && last.until > now) continue;
      begun.set(address, touched(kind, last, now));
    }
  }
  if (!isSeen) return;
  readSoon();
  show();
}

function touched(kind: TouchKind, last: Begun | undefined, now: number): Begun {
  const until = now + LASTS_MS;
  if (last?.kind === kind && now - last.since < AGAIN_MS) return { ...last, until };
  return { kind, isAgain: last?.isAgain === false, since: now, until };
}

function show(): void {
  const now = performance.now();
  for (const [address, { until }] of begun) if (until <= now) begun.delete(address);
  flashes.value = new Map(begun);
  clearTimeout(timer);
  if (begun.size > 0) timer = setTimeout(show, LASTS_MS / 4);
}
