import { counted } from '../words.js';
import { lengthText, msText } from './times.js';

/** The rows of a timing strip, from top to bottom. */
export const LANES = ['received', 'sent', 'planned', 'notes'] as const;

export type Lane = (typeof LANES)[number];

/**
 * How a piece is drawn. Pieces of the first look are drawn first. `wait`: the silence before a reply may
 * begin. `spoilt`: a fault acted on the reply. `missing`: planned but not done. `mark`: a moment without a
 * length.
 */
export const LOOKS = [
  'wait',
  'planned',
  'foreign',
  'request',
  'reply',
  'spoilt',
  'damaged',
  'break',
  'missing',
  'fault',
  'mark',
] as const;

export type Look = (typeof LOOKS)[number];

/** A part of the strip from one moment to another. Times are in µs of any one clock. */
export interface Piece {
  /** The sequence number of the event that the piece belongs to. */
  readonly id: number;
  readonly lane: Lane;
  readonly look: Look;
  readonly startUs: number;
  readonly endUs: number;
  /** The label on the piece, or next to it if there is room. */
  readonly label: string;
  /** A sentence that describes the piece. */
  readonly words: string;
  /** The silence on the line before the piece, from its event; undefined if unknown. */
  readonly quietUs?: number | undefined;
}

/** The durations of a line, in µs; undefined if characters take no time. */
export interface Wire {
  readonly characterUs: number | undefined;
  readonly t35Us: number | undefined;
}

/** The fields of a traffic event that a strip needs. */
export interface StripEvent {
  /** The event's number in the traffic; 0 for an event that never happened. */
  readonly seq: number;
  readonly kind: string;
  readonly text: string;
  readonly monotonicUs: number;
  readonly startedUs?: number | undefined;
  readonly pauseUs?: number | null | undefined;
  readonly bytes?: string | undefined;
  readonly omittedBytes?: number | undefined;
  readonly name?: string | undefined;
  readonly request?: number | undefined;
  readonly requestedUs?: number | undefined;
  readonly silence?: string | null | undefined;
  readonly ended?: string | undefined;
  readonly steps?: readonly StripStep[] | undefined;
  readonly faults?:
    | readonly { readonly rule: string; readonly kind: string; readonly outcome: string }[]
    | undefined;
}

interface StripStep {
  readonly kind: string;
  readonly bytes?: string | undefined;
  readonly plannedUs: number;
  readonly achievedUs: number | null;
  readonly endedUs: number | null;
  readonly reason?: string | undefined;
}

/** How received bytes are drawn, by the kind of their event. All other kinds look `foreign`. */
const RECEIVED: Readonly<Record<string, Look>> = {
  request: 'request',
  broadcast: 'request',
  damaged: 'damaged',
  discarded: 'damaged',
  duplicate: 'damaged',
};

/** Returns the pieces of an event. Their times are on the clock of `monotonicUs`. */
export function piecesOf(event: StripEvent, wire: Wire): Piece[] {
  const { seq: id, kind, text, monotonicUs: endUs, startedUs = endUs, bytes, pauseUs, name = kind } = event;
  if (kind === 'reply') return replyPieces(event, wire);
  if (bytes === undefined) {
    const label = kind === 'line' ? text : kind;
    return [{ id, lane: 'notes', look: 'mark', startUs: endUs, endUs, label, words: `${kind}: ${text}` }];
  }
  const pause = pauseUs == null ? '' : `, after a pause of ${lengthText(pauseUs, wire.characterUs)}`;
  const words = `${numbered(kind, id)}, ${sizeText(bytes, event.omittedBytes)}: ${text}${pause}`;
  const look = RECEIVED[kind] ?? 'foreign';
  const lane = kind === 'unsolicited' ? 'sent' : 'received';
  const quietUs = pauseUs ?? undefined;
  return [{ id, lane, look, startUs: startedUs, endUs, label: name, words, quietUs }];
}

function replyPieces(event: StripEvent, wire: Wire): Piece[] {
  const { seq: id, monotonicUs, requestedUs: base = monotonicUs, steps = [], faults = [] } = event;
  const request = numbered('request', event.request);
  const reply = numbered('reply', id);
  const pieces: Piece[] = [];
  const add = (piece: Omit<Piece, 'id'>) => pieces.push({ id, ...piece });
  if (wire.t35Us) {
    const words = `t3.5 after ${request}: ${lengthText(wire.t35Us, wire.characterUs)}`;
    add({ lane: 'planned', look: 'wait', startUs: base, endUs: base + wire.t35Us, label: 't3.5', words });
  }
  if (steps.length === 0) {
    const why = event.silence ?? event.ended;
    const words = `no reply to ${request}: ${why}`;
    // Whatever a fault did to a reply was intended.
    const look = isSpoilt(event) || event.silence === 'fault' ? 'spoilt' : 'missing';
    add({ lane: 'sent', look, startUs: base, endUs: base, label: `no reply: ${why}`, words });
  }
  steps.forEach((step, i) => {
    const which = steps.length === 1 ? reply : `piece ${i + 1} of ${steps.length} of ${reply}`;
    for (const piece of stepPieces(step, { base, which, wire, event })) add(piece);
  });
  if (faults.length > 0) {
    const endUs = Math.max(base, ...pieces.map((piece) => piece.endUs));
    const texts = faults.map(
      ({ rule, kind, outcome }) => `${rule}: ${kind}${outcome === 'applied' ? '' : ' (not achieved)'}`,
    );
    const words = `faults on ${reply}: ${texts.join(', ')}`;
    const label = [...new Set(texts)].join(', ');
    add({ lane: 'notes', look: 'fault', startUs: base, endUs, label, words });
  }
  return pieces;
}

/** Returns `reply 12`, or `the reply` if the event has no number. */
function numbered(kind: string, seq: number | undefined): string {
  return seq ? `${kind} ${seq}` : `the ${kind}`;
}

interface Around {
  /** When the request ended. */
  readonly base: number;
  readonly which: string;
  readonly wire: Wire;
  readonly event: StripEvent;
}

function stepPieces(step: StripStep, { base, which, wire, event }: Around): Omit<Piece, 'id'>[] {
  const { kind, bytes = '', plannedUs, achievedUs, endedUs, reason } = step;
  const isBytes = kind === 'bytes';
  const label = isBytes ? sizeText(bytes) : kind;
  const expected = isBytes ? countOf(bytes) * (wire.characterUs ?? 0) : 0;
  const taken = achievedUs === null || endedUs === null ? expected : endedUs - achievedUs;
  const startUs = base + plannedUs;
  const planned = { lane: 'planned', startUs, endUs: startUs + taken } as const;
  const words = `${which}, ${label}, planned ${msText(plannedUs)} after the request`;
  if (achievedUs === null) {
    const why = `not sent${reason ? `: ${reason}` : ''}`;
    return [{ ...planned, look: 'missing', label: why, words: `${words}, ${why}` }];
  }
  const from = base + achievedUs;
  const sent = `${which}, ${label}, ${msText(achievedUs)} after the request, ${msText(achievedUs - plannedUs)} after the planned time, ${lengthText(taken, wire.characterUs)} long: ${event.text}`;
  const look = isBytes ? (isSpoilt(event) ? 'spoilt' : 'reply') : 'break';
  // From the request, which may not be shown, to the first piece. Nothing is hidden between pieces.
  const quietUs = step === event.steps?.[0] ? achievedUs : undefined;
  return [
    { ...planned, look: 'planned', label, words },
    { lane: 'sent', look, startUs: from, endUs: from + taken, label, words: sent, quietUs },
  ];
}

/** Returns the number of bytes in a text. @param bytes in hexadecimal, separated by spaces */
export function countOf(bytes: string): number {
  return (bytes.length + 1) / 3;
}

/** Returns a number of bytes as text: `8 bytes`. */
export function sizeText(bytes: string, omitted = 0): string {
  const count = Math.floor(countOf(bytes)) + omitted;
  return counted(count, 'byte');
}

function isSpoilt({ faults }: StripEvent): boolean {
  return faults?.some(({ outcome }) => outcome === 'applied') ?? false;
}
