import type { ActedFault } from '../../device/faults/apply.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import type { RefusedRange } from '../../modbus/protocol/pdu.js';
import type { PlayReport, ReplyPlan } from '../../modbus/protocol/reply-plan.js';

/** What every event has. `at` is in ms of `performance.now()`. */
interface Common {
  /** Counts the events of all lines from 1. */
  readonly seq: number;
  readonly line: string;
  readonly at: number;
  /** The moment `at` by the wall clock, in ms since 1970. */
  readonly time: number;
}

/** Who is at the other end of a socket. */
export interface ClientOf {
  /** Its address, `192.168.0.7:40112`; undefined on a serial line. */
  readonly client: string | undefined;
  /** Counts the clients of the line from 1; 0 on a serial line. */
  readonly clientId: number;
  /** The address of ours that the client came to, on a line that has several. */
  readonly host?: string | undefined;
}

/** Bytes that came in. `at` is when the last of them was read. */
export interface Received extends ClientOf {
  readonly bytes: Uint8Array;
  readonly framing: Framing;
  /** When the first of them came, in ms of `performance.now()`, as far as the adapter shows it. */
  readonly startedAt: number;
  /** Time between the last character on the line before these bytes and the first of them, in ms; undefined at first. */
  readonly pause: number | undefined;
  /** Time of a character on the line, in ms; 0 where characters take none. */
  readonly characterTime: number;
}

/** A valid frame that came in. */
export interface FrameEvent extends Common, Received {
  /**
   * `request` and `broadcast` are for our devices. `foreign request` and `foreign response` passed between others.
   * `duplicate` is the response of another device that has the unit identifier of one of ours. `dropped` is a request
   * that was not executed, because replies were pending.
   */
  readonly kind: 'request' | 'broadcast' | 'foreign request' | 'foreign response' | 'duplicate' | 'dropped';
  readonly unitId: number;
  /** As in the frame, with the exception flag. */
  readonly functionCode: number;
  /** Of a foreign response whose request was heard: that request, and how long the device took, in ms. */
  readonly answers: { readonly seq: number; readonly after: number } | undefined;
}

/** Bytes that came in and belong to no valid frame. */
export interface DamageEvent extends Common, Received {
  /** `damaged` has the length of a frame, and a wrong check value or protocol identifier. `discarded` is less than a frame, or none. */
  readonly kind: 'damaged' | 'discarded';
  /** Damage of the same message was reported before. */
  readonly isRest: boolean;
}

/** Bytes of ours that nobody had asked for. `startedAt` is when the first of them left, `at` when the last did. */
export interface UnaskedEvent extends Common, Received {
  readonly kind: 'unasked';
}

/** What became of a request: a reply, or silence. `at` is when its first byte left, or when it was over. */
export interface ReplyEvent extends Common, ClientOf {
  readonly kind: 'reply';
  /** Of the reply. */
  readonly framing: Framing;
  /** Sequence number of the request. */
  readonly request: number;
  readonly requestAdu: Uint8Array;
  /** When the last byte of the request was read, in ms of `performance.now()`. */
  readonly requestedAt: number;
  /** Unit identifier and function code of the request. */
  readonly unitId: number;
  readonly functionCode: number;
  readonly plan: ReplyPlan;
  readonly report: PlayReport;
  /** The faults that were to act, at most 64: of more, the first 63 and the last. */
  readonly acted: readonly ActedFault[];
  /** How many of them are not in `acted`. */
  readonly omittedFaults: number;
  /** The addresses that are the reason of exception 02; absent for other replies and other reasons. */
  readonly refused?: RefusedRange | undefined;
}

/** What happened to the line itself. */
export interface LineStateEvent extends Common {
  readonly kind: 'line';
  readonly state:
    | 'open'
    | 'lost'
    | 'waiting'
    | 'failed'
    | 'not opened'
    | 'stopped'
    | 'changed'
    | 'real device';
  /** The place of an open line, what happened to a real device, otherwise the reason. */
  readonly text: string;
}

/** What was noticed about the line. */
export interface NoticeEvent extends Common {
  /**
   * `echo`: a reply came back and was taken out. `loop`: copies of replies came one after the other, and the next ones
   * are not executed. `collision`: somebody else spoke while a reply was on the wire. `overrun`: the UART has lost
   * characters. `damaged characters`: the port has marked characters as damaged.
   */
  readonly kind: 'echo' | 'loop' | 'collision' | 'overrun' | 'damaged characters';
  /** Characters; 1 where they are not counted. */
  readonly count: number;
  /** Damage of the same message was reported before. */
  readonly isRest: boolean;
}

/** A client of a socket comes, goes, or is turned away. */
export interface ClientEvent extends Common, ClientOf {
  readonly kind: 'client' | 'client gone' | 'client rejected';
  /** The role in its certificate, why it went, or why it was turned away. */
  readonly text: string;
}

/** What a test on the line has come to. It stands between the frames, so that they show what was tested when. */
export interface TestEvent extends Common {
  readonly kind: 'test';
  /** Number of the test, as in `/api/v1/tests`. */
  readonly test: number;
  /** `step`: a step has ended. */
  readonly state: 'began' | 'step' | 'over';
  /** The name of the test, or the step and its verdict. */
  readonly text: string;
}

/** Everything that passes a line. */
export type TrafficEvent =
  | FrameEvent
  | DamageEvent
  | UnaskedEvent
  | ReplyEvent
  | LineStateEvent
  | NoticeEvent
  | ClientEvent
  | TestEvent;

export type EventKind = TrafficEvent['kind'];

export const DIRECTIONS = ['in', 'out', 'none'] as const;

/** `in`: bytes that were received. `out`: a reply, or what was sent unasked. `none`: what is no bytes. */
export type Direction = (typeof DIRECTIONS)[number];

/**
 * Which way the bytes of an event went, for all kinds of events: first those that have a unit identifier. The places of the
 * kinds in this list are their codes in records.
 */
export const DIRECTION_OF: Readonly<Record<EventKind, Direction>> = {
  request: 'in',
  broadcast: 'in',
  'foreign request': 'in',
  'foreign response': 'in',
  duplicate: 'in',
  dropped: 'in',
  reply: 'out',
  damaged: 'in',
  discarded: 'in',
  line: 'none',
  echo: 'none',
  loop: 'none',
  collision: 'none',
  overrun: 'none',
  'damaged characters': 'none',
  client: 'none',
  'client gone': 'none',
  'client rejected': 'none',
  test: 'none',
  unasked: 'out',
};

export const EVENT_KINDS = Object.keys(DIRECTION_OF) as readonly EventKind[];

/** An event of some kinds. */
export type EventOf<Kind extends EventKind> = TrafficEvent extends infer Event extends TrafficEvent
  ? Event extends unknown
    ? Extract<Event['kind'], Kind> extends never
      ? never
      : Event & { readonly kind: Extract<Event['kind'], Kind> }
    : never
  : never;

type Without<Event, Keys extends string> = Event extends unknown ? Omit<Event, Keys> : never;

/** An event as its line reports it. The stream adds the rest. */
export type NewEvent = Without<TrafficEvent, 'seq' | 'line' | 'time'>;
