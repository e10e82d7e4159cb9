import type { Bus } from '../bus/bus.js';

/** How a line was opened: what to tell the person who started the simulator, or why it could not be opened. */
export type LineStart =
  | { readonly ok: true; readonly description: string }
  | { readonly ok: false; readonly error: string };

/** What has passed over a line since it was made. */
export interface LineCounters {
  /** Requests to units of ours, broadcasts included. */
  requests: number;
  broadcasts: number;
  /** Requests that came while a reply was pending and were not executed. */
  dropped: number;
  replies: number;
  /** Responses of another device that has one of our unit identifiers. */
  duplicates: number;
  /** Replies during which somebody else spoke. */
  collisions: number;
  /** Frames between others. */
  foreignFrames: number;
  /** Bytes that were no part of a valid frame. */
  noiseBytes: number;
}

/** One serial port or one listening socket with the devices behind it. */
export interface Line {
  readonly name: string;
  readonly bus: Bus;
  readonly counters: Readonly<LineCounters>;
  start(): Promise<LineStart>;
  stop(): Promise<void>;
}

export function zeroCounters(): LineCounters {
  return {
    requests: 0,
    broadcasts: 0,
    dropped: 0,
    replies: 0,
    duplicates: 0,
    collisions: 0,
    foreignFrames: 0,
    noiseBytes: 0,
  };
}
