import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import type { EventKind, NewEvent } from './event.js';

/**
 * The meaning of each counter of a line. All counts start when the line is created. docs/rest.md and the help
 * texts of the metrics use these sentences.
 */
export const COUNTERS = {
  requests: 'Requests to our units, including broadcasts.',
  broadcasts: 'Requests to every unit of the line (unit identifier 0).',
  dropped: 'Requests that were not executed, because they arrived while replies were pending.',
  replies: 'Replies that were sent, at least in part.',
  unsolicited: 'Bytes and frames that the line sent without a request (`unsolicited` of the line).',
  duplicates: 'Responses of another device that uses one of our unit identifiers.',
  echoes: 'Our own replies that the adapter heard and the line discarded.',
  collisions: 'Replies during which another device sent bytes.',
  foreignFrames: 'Frames between other devices.',
  damagedFrames:
    'Frames with a wrong check value (CRC, LRC) or, on Modbus TCP, a protocol identifier other than 0.',
  noiseBytes: 'Bytes that do not belong to a valid frame, including those of damaged frames.',
  damagedCharacters: 'Characters that the port marked as damaged.',
  rejected:
    'Clients refused or disconnected by the line: too many clients, idle, slow, not speaking Modbus, no certificate.',
} as const;

/** A number for each entry of `COUNTERS`. */
export type LineCounters = Record<keyof typeof COUNTERS, number>;

export function newCounters(): LineCounters {
  return Object.fromEntries(Object.keys(COUNTERS).map((name) => [name, 0])) as LineCounters;
}

/** The counter for each kind of event. Other kinds have none, or `countEvent` chooses them. */
const COUNTER_OF: Readonly<Partial<Record<EventKind, keyof LineCounters>>> = {
  request: 'requests',
  broadcast: 'requests',
  dropped: 'dropped',
  unsolicited: 'unsolicited',
  duplicate: 'duplicates',
  echo: 'echoes',
  collision: 'collisions',
  'foreign request': 'foreignFrames',
  'foreign response': 'foreignFrames',
  damaged: 'damagedFrames',
  'client rejected': 'rejected',
};

export function countEvent(counters: LineCounters, event: NewEvent): void {
  const counter = COUNTER_OF[event.kind];
  if (counter !== undefined) counters[counter]++;
  switch (event.kind) {
    case 'broadcast':
      counters.broadcasts++;
      break;
    case 'reply':
      // If the first step was not achieved, nothing was sent: no client had the line open, or a newer request
      // arrived.
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

/** A histogram: counts of values between bounds. */
class Histogram {
  /** The bounds in ascending order. A value counts in the first bucket whose bound is not less than the value. */
  readonly bounds: readonly number[];
  /** The counts: one per bound, and a last one for greater values. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let i = 0;
    while (i < bounds.length && value > (bounds[i] as number)) i++;
    counts[i] = (counts[i] as number) + 1;
    this.sum += value;
  }
}

/** Frames with one unit identifier and one function code. */
export interface FrameCounts {
  /** The unit identifier; undefined for everything beyond `MAX_PAIRS`. */
  readonly unitId: number | undefined;
  readonly functionCode: number | undefined;
  requests: number;
  replies: number;
  foreignRequests: number;
  foreignResponses: number;
}

/**
 * Maximum number of pairs that are counted separately. A hostile client can send 65,536 pairs of unit
 * identifier and function code; further pairs share one count.
 */
export const MAX_PAIRS = 1000;

/** The bounds of the histograms, in ms. */
const TURNAROUNDS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000];
const LATENESSES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

/**
 * The measurements of a line other than its counters. An event costs a few tens of nanoseconds: nothing is
 * allocated, except for a new pair of unit identifier and function code.
 */
export class LineMeters {
  readonly #pairs = new Map<number, FrameCounts>();
  #others: FrameCounts | undefined;
  /** How often each exception code was sent. */
  readonly exceptions = new Map<number, number>();
  /** The time from the end of a request to the start of its reply, in ms. */
  readonly turnaround = new Histogram(TURNAROUNDS);
  /** How much later than planned each step of a reply started, in ms. */
  readonly lateness = new Histogram(LATENESSES);

  /** The counts in the order in which the pairs were first seen. */
  get frames(): FrameCounts[] {
    const pairs = [...this.#pairs.values()];
    return this.#others ? [...pairs, this.#others] : pairs;
  }

  count(event: NewEvent): void {
    switch (event.kind) {
      case 'request':
      case 'broadcast':
        this.#of(event.unitId, event.functionCode).requests++;
        break;
      case 'foreign request':
        this.#of(event.unitId, event.functionCode).foreignRequests++;
        break;
      case 'foreign response':
        this.#of(event.unitId, event.functionCode & ~EXCEPTION_FLAG).foreignResponses++;
        break;
      case 'reply':
        this.#reply(event);
    }
  }

  #reply(event: Extract<NewEvent, { kind: 'reply' }>): void {
    const { steps } = event.report;
    // If the first step was not achieved, nothing was sent.
    if (steps[0]?.outcome !== 'achieved') return;
    this.#of(event.unitId, event.functionCode).replies++;
    this.turnaround.observe(event.at - event.requestedAt);
    for (const { outcome, achievedAt, plannedAt } of steps) {
      if (outcome === 'achieved') this.lateness.observe(Math.max(0, achievedAt - plannedAt));
    }
    const code = sentException(event);
    if (code !== undefined) this.exceptions.set(code, (this.exceptions.get(code) ?? 0) + 1);
  }

  #of(unitId: number, functionCode: number): FrameCounts {
    const key = (unitId << 8) | functionCode;
    const known = this.#pairs.get(key);
    if (known) return known;
    if (this.#pairs.size >= MAX_PAIRS) {
      this.#others ??= newCounts(undefined, undefined);
      return this.#others;
    }
    const counts = newCounts(unitId, functionCode);
    this.#pairs.set(key, counts);
    return counts;
  }
}

function newCounts(unitId: number | undefined, functionCode: number | undefined): FrameCounts {
  return { unitId, functionCode, requests: 0, replies: 0, foreignRequests: 0, foreignResponses: 0 };
}

/** The exception code at the start of a reply; undefined if it starts with something else. */
export function sentException({ plan, framing }: Extract<NewEvent, { kind: 'reply' }>): number | undefined {
  const step = plan.kind === 'send' ? plan.steps[0] : undefined;
  // A reply with an exception is one byte longer than the shortest ADU, which has only a function code. In
  // ASCII, that byte is two digits.
  const length = framing.minLength + (framing.name === 'ascii' ? 2 : 1);
  if (step?.kind !== 'bytes' || step.bytes.length !== length) return undefined;
  const pdu = framing.fields(step.bytes)?.pdu;
  return pdu && ((pdu[0] as number) & EXCEPTION_FLAG) !== 0 ? pdu[1] : undefined;
}
