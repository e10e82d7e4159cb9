import type { ActedFault } from '../../device/faults/apply.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import type { RefusedRange } from '../../modbus/protocol/pdu.js';
import type { PlayReport, ReplyPlan } from '../../modbus/protocol/reply-plan.js';

/** The fields of every event. `at` is in ms of `performance.now()`. */
interface Common {
  /** The sequence number, which counts the events of all lines, starting at 1. */
  readonly seq: number;
  readonly line: string;
  readonly at: number;
  /** The time `at` on the wall clock, in ms since 1970. */
  readonly time: number;
}

/** The client at the other end of a socket. */
export interface ClientOf {
  /** The address of the client, `192.168.0.7:40112`; undefined on a serial line. */
  readonly client: string | undefined;
  /** The number of the client, counted per line from 1; 0 on a serial line. */
  readonly clientId: number;
  /** The address on this machine that the client connected to, on a line with several. */
  readonly host?: string | undefined;
}

/** Bytes that were received. `at` is when the last one was read. */
export interface Received extends ClientOf {
  readonly bytes: Uint8Array;
  readonly framing: Framing;
  /** When the first byte arrived, in ms of `performance.now()`, as far as the adapter reveals it. */
  readonly startedAt: number;
  /**
   * Time from the previous character on the line to the first of these bytes, in ms; undefined for the first
   * bytes on the line.
   */
  readonly pause: number | undefined;
  /** Time of one character on the line, in ms; 0 if the line is not serial. */
  readonly characterTime: number;
}

/** A valid frame that was received. */
export interface FrameEvent extends Common, Received {
  /**
   * `request` and `broadcast` are for our devices. `foreign request` and `foreign response` passed between
   * others. `duplicate` is the response of another device with the unit identifier of one of ours. `dropped`
   * is a request that was not executed, because replies were pending.
   */
  readonly kind: 'request' | 'broadcast' | 'foreign request' | 'foreign response' | 'duplicate' | 'dropped';
  readonly unitId: number;
  /** The function code of the frame, with the exception flag. */
  readonly functionCode: number;
  /** The request that a foreign response answers, if it was received, and how long the device took, in ms. */
  readonly answers: { readonly seq: number; readonly after: number } | undefined;
}

/** Received bytes that are not part of a valid frame. */
export interface DamageEvent extends Common, Received {
  /**
   * `damaged` bytes have the length of a frame, but a wrong check value or protocol identifier. `discarded`
   * bytes are shorter than a frame, or not a frame at all.
   */
  readonly kind: 'damaged' | 'discarded';
  /** True if damage to the same message was already reported. */
  readonly isRest: boolean;
}

/** Bytes that we sent without a request. `startedAt` is when the first byte left, `at` when the last one did. */
export interface UnsolicitedEvent extends Common, Received {
  readonly kind: 'unsolicited';
}

/**
 * The outcome of a request: a reply or silence. `at` is when the first byte of the reply left, or when it was
 * decided not to reply.
 */
export interface ReplyEvent extends Common, ClientOf {
  readonly kind: 'reply';
  readonly framing: Framing;
  /** The sequence number of the request. */
  readonly request: number;
  readonly requestAdu: Uint8Array;
  /** When the last byte of the request was read, in ms of `performance.now()`. */
  readonly requestedAt: number;
  /** The unit identifier and function code of the request. */
  readonly unitId: number;
  readonly functionCode: number;
  readonly plan: ReplyPlan;
  readonly report: PlayReport;
  /** The faults that were to act, at most 64: if there are more, the first 63 and the last one. */
  readonly acted: readonly ActedFault[];
  /** The number of faults that are missing from `acted`. */
  readonly omittedFaults: number;
  /** The addresses that caused exception 02; absent for other replies and other causes. */
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
  /** The address of an open line, a message about a real device, or the reason for the state. */
  readonly text: string;
}

/** Something that was noticed on the line. */
export interface NoticeEvent extends Common {
  /**
   * `echo`: a reply came back and was removed. `loop`: the simulator's own replies kept coming back; further
   * copies are not executed as requests. `collision`: another device sent while a reply was on the wire.
   * `overrun`: the UART lost characters. `damaged characters`: the port marked characters as damaged.
   */
  readonly kind: 'echo' | 'loop' | 'collision' | 'overrun' | 'damaged characters';
  /** The number of characters; 1 if they are not counted. */
  readonly count: number;
  /** True if damage to the same message was already reported. */
  readonly isRest: boolean;
}

/** A client of a socket connects or disconnects. */
export interface ClientEvent extends Common, ClientOf {
  readonly kind: 'client' | 'client gone';
  /** The role in the client's certificate, or why the client disconnected. */
  readonly text: string;
}

/** A client of a socket is rejected; `text` gives the reason. */
export interface RejectedEvent extends Common, ClientOf {
  readonly kind: 'client rejected';
  readonly reason: 'protocol' | 'idle' | 'slow' | 'limit' | 'tls';
  readonly text: string;
}

/** The progress of a test on the line. It is placed between the frames to show what was tested when. */
export interface TestEvent extends Common {
  readonly kind: 'test';
  /** The number of the test, as in `/api/v1/runs`. */
  readonly test: number;
  /** The progress; `step` means that a step is over. */
  readonly state: 'began' | 'step' | 'over';
  /** The name of the test, or the step and its verdict. */
  readonly text: string;
}

/** Anything that passes a line. */
export type TrafficEvent =
  | FrameEvent
  | DamageEvent
  | UnsolicitedEvent
  | ReplyEvent
  | LineStateEvent
  | NoticeEvent
  | ClientEvent
  | RejectedEvent
  | TestEvent;

export type EventKind = TrafficEvent['kind'];

export const DIRECTIONS = ['in', 'out', 'none'] as const;

/** `in`: received bytes. `out`: a reply, or unsolicited bytes. `none`: an event without bytes. */
export type Direction = (typeof DIRECTIONS)[number];

/**
 * The direction of each kind of event. Kinds with a unit identifier come first. The code of a kind in records
 * is its index in this list.
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
  unsolicited: 'out',
};

export const EVENT_KINDS = Object.keys(DIRECTION_OF) as readonly EventKind[];

export type EventOf<Kind extends EventKind> = TrafficEvent extends infer Event extends TrafficEvent
  ? Event extends unknown
    ? Extract<Event['kind'], Kind> extends never
      ? never
      : Event & { readonly kind: Extract<Event['kind'], Kind> }
    : never
  : never;

type Without<Event, Keys extends string> = Event extends unknown ? Omit<Event, Keys> : never;

/** An event as reported by its line. The stream adds the other fields. */
export type NewEvent = Without<TrafficEvent, 'seq' | 'line' | 'time'>;
