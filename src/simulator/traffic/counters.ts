import type { EventKind, NewEvent } from './event.js';

/**
 * The meaning of each counter of a line. All count from the moment the line is made. docs/rest.md and the
 * help texts of the metrics have these sentences.
 */
export const COUNTERS = {
  requests: 'Requests to our units, including broadcasts.',
  broadcasts: 'Requests to every unit of the line (unit identifier 0).',
  dropped: 'Requests that were not executed, because they came while replies were pending.',
  replies: 'Replies that were sent, at least in part.',
  unasked: 'Bytes and frames that the line sent though nobody had asked (`unasked` of the line).',
  duplicates: 'Responses of another device that uses one of our unit identifiers.',
  echoes: 'Our own replies that the adapter heard and the line discarded.',
  collisions: 'Replies during which another device sent bytes.',
  foreignFrames: 'Frames between other devices.',
  damagedFrames:
    'Frames with a wrong check value (CRC, LRC) or, on Modbus TCP, a protocol identifier other than 0.',
  noiseBytes: 'Bytes that belong to no valid frame, those of damaged frames among them.',
  damagedCharacters: 'Characters that the port marked as damaged.',
  rejected:
    'Clients refused or disconnected by the line: too many clients, idle, slow, not speaking Modbus, no certificate.',
} as const;

/** A number for each entry of `COUNTERS`. */
export type LineCounters = Record<keyof typeof COUNTERS, number>;

export function newCounters(): LineCounters {
  return Object.fromEntries(Object.keys(COUNTERS).map((name) => [name, 0])) as LineCounters;
}

/** The counter of each kind of event. Other kinds have none, or those that `countEvent` chooses. */
const COUNTER_OF: Readonly<Partial<Record<EventKind, keyof LineCounters>>> = {
  request: 'requests',
  broadcast: 'requests',
  dropped: 'dropped',
  unasked: 'unasked',
  duplicate: 'duplicates',
  echo: 'echoes',
  collision: 'collisions',
  'foreign request': 'foreignFrames',
  'foreign response': 'foreignFrames',
  damaged: 'damagedFrames',
  'client rejected': 'rejected',
};

/** Counts an event of the line. */
export function countEvent(counters: LineCounters, event: NewEvent): void {
  const counter = COUNTER_OF[event.kind];
  if (counter !== undefined) counters[counter]++;
  switch (event.kind) {
    case 'broadcast':
      counters.broadcasts++;
      break;
    case 'reply':
      // If the first step was not achieved, nothing was sent: no client had the line open, or a newer request
      // came.
      if (event.report.steps[0]?.outcome === 'achieved') counters.replies++;
      break;
    case 'damaged':
    case 'discarded':
      counters.noiseBytes += event.bytes.length;
      break;
    case 'damaged characters':
      counters.damagedCharacters += event.count;
  }
}
