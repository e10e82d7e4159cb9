import { MAX_ASCII_LENGTH } from '../protocol/ascii.js';

/** The most that a plan can come to. */
export interface Extent {
  readonly frames: number;
  /** Of all frames. No piece of a frame is empty, so there are no more pieces than bytes. */
  readonly bytes: number;
  /** Time before the first frame, in ms: copies of the frame don't repeat it. */
  readonly lead: number;
  /** Waits after that, in ms. */
  readonly ms: number;
}

/** A plain reply, of any framing: no ADU is longer than one of ASCII. */
export const PLAIN_EXTENT: Extent = { frames: 1, bytes: MAX_ASCII_LENGTH, lead: 0, ms: 0 };

/** What the faults of all rules together may stretch a reply to. */
export const MAX_REPLY_BYTES = 64 * 1024;
export const MAX_REPLY_MS = 60 * 60 * 1000;

/** All waits in ms, to the µs: what adding up fractions leaves behind that is not meant. */
export function duration({ lead, ms }: Extent): number {
  return Math.round(1000 * (lead + ms)) / 1000;
}

/** Why a plan that can come to this is not to be made; undefined when it may. */
export function beyondLimits(extent: Extent): string | undefined {
  if (extent.bytes > MAX_REPLY_BYTES) return 'the reply could be longer than 64 KiB';
  if (duration(extent) > MAX_REPLY_MS) return 'the reply could take longer than an hour';
  return undefined;
}
