import { ASCII_TIMEOUT_MS } from '../../protocol/ascii.js';
import { characterTime, t15, t35 } from '../../protocol/timing.js';
import { type Adapter, discardGap } from '../port/adapter.js';
import type { SerialSettings } from '../settings.js';

/** Times of a serial line in ms, as far as they follow from its settings and its adapter. */
export interface SerialTimes {
  readonly t15: number;
  readonly t35: number;
  /** Silence after which an incomplete frame is thrown away. */
  readonly gap: number;
  /** Wait after a request before a reply; undefined replies as soon as the frame is complete. */
  readonly turnaround: number | undefined;
  /** Of one character on the wire. */
  readonly characterTime: number;
}

/** The times of a line on an adapter, before or after it is open. */
export function serialTimes(settings: SerialSettings, adapter: Adapter): SerialTimes {
  const { framing, baudRate, timing } = settings;
  const pause = timing.t35 ?? t35(baudRate);
  const character = characterTime(settings);
  const usualGap = framing === 'ascii' ? ASCII_TIMEOUT_MS : discardGap(adapter, character, pause);
  return {
    t15: t15(baudRate),
    t35: pause,
    gap: timing.gap ?? usualGap,
    turnaround: turnaround(timing.turnaround, pause),
    characterTime: character,
  };
}

/** Wait after a request in ms, undefined for none: a number comes on top of t3.5, which no reply may undercut. */
function turnaround(wanted: number | 't3.5' | 'eager', t35: number): number | undefined {
  if (wanted === 'eager') return undefined;
  return wanted === 't3.5' ? t35 : t35 + wanted;
}
