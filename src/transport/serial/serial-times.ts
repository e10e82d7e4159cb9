import { ASCII_TIMEOUT_MS } from '../../protocol/ascii.js';
import { characterTime, t15, t35 } from '../../protocol/timing.js';
import { type Adapter, discardGap } from '../port/adapter.js';
import type { SerialSettings } from '../settings.js';
import type { TimedBytes } from '../transport.js';

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

/** How bytes reach this program from the wire. */
export interface Arrival {
  /** How long one character is on the wire, in ms; 0 on a line without a wire. */
  readonly wireTime: number;
  /** How long the adapter may hold received bytes back, in ms. */
  readonly inputHold: number;
}

/**
 * What was received, with the time when it began on the wire. A FIFO hands over 8 or 16 characters at once, so they arrive
 * late. They are never later than the adapter allows (`inputHold`), because a port without a wire may hand over much
 * longer pieces at once.
 */
export function asOnWire({ bytes, startedAt, receivedAt }: TimedBytes, arrival: Arrival): TimedBytes {
  const began = receivedAt - bytes.length * arrival.wireTime;
  const earliest = Math.max(began, startedAt - arrival.inputHold);
  return { bytes, startedAt: Math.min(startedAt, earliest), receivedAt };
}

/** Wait after a request in ms, undefined for none: a number comes on top of t3.5, which no reply may undercut. */
function turnaround(wanted: number | 't3.5' | 'eager', t35: number): number | undefined {
  if (wanted === 'eager') return undefined;
  return wanted === 't3.5' ? t35 : t35 + wanted;
}
