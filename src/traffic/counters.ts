import type { NewEvent } from './event.js';

/** Counts of the traffic on a line since the line was made. */
export interface LineCounters {
  /** Requests to our units, including broadcasts. */
  requests: number;
  broadcasts: number;
  /** Requests that were not executed, because they came while a reply was pending. */
  dropped: number;
  /** Replies that were sent, at least in part. */
  replies: number;
  /** Responses of another device that uses one of our unit identifiers. */
  duplicates: number;
  /** Echoes of our own replies, from an adapter that hears what it sends. Echoes are discarded. */
  echoes: number;
  /** Replies during which another device sent bytes. */
  collisions: number;
  /** Frames between other devices. */
  foreignFrames: number;
  /** Bytes that have the length of a frame and a wrong check value (CRC, LRC). */
  damagedFrames: number;
  /** Bytes that belong to no valid frame, those of damaged frames among them. */
  noiseBytes: number;
  /** Characters that the port marked as damaged. */
  damagedCharacters: number;
  /** Clients refused or dropped: client limit, idle, slow, not speaking Modbus, no certificate. */
  rejected: number;
}

export function newCounters(): LineCounters {
  return {
    requests: 0,
    broadcasts: 0,
    dropped: 0,
    replies: 0,
    duplicates: 0,
    echoes: 0,
    collisions: 0,
    foreignFrames: 0,
    damagedFrames: 0,
    noiseBytes: 0,
    damagedCharacters: 0,
    rejected: 0,
  };
}

/** Counts an event of the line. */
export function countEvent(counters: LineCounters, event: NewEvent): void {
  switch (event.kind) {
    case 'request':
      counters.requests++;
      break;
    case 'broadcast':
      counters.requests++;
      counters.broadcasts++;
      break;
    case 'dropped':
      counters.dropped++;
      break;
    case 'reply':
      // If the first step was not achieved, nothing was sent: no client had the line open, or a newer request came.
      if (event.report.steps[0]?.outcome === 'achieved') counters.replies++;
      break;
    case 'duplicate':
      counters.duplicates++;
      break;
    case 'echo':
      counters.echoes++;
      break;
    case 'collision':
      counters.collisions++;
      break;
    case 'foreign request':
    case 'foreign response':
      counters.foreignFrames++;
      break;
    case 'damaged':
      counters.damagedFrames++;
      counters.noiseBytes += event.bytes.length;
      break;
    case 'discarded':
      counters.noiseBytes += event.bytes.length;
      break;
    case 'damaged characters':
      counters.damagedCharacters += event.count;
      break;
    case 'client rejected':
      counters.rejected++;
  }
}
