import type { Framing } from '../protocol/framing.js';
import { EVENT_KINDS, type EventKind, type LineStateEvent, type TestEvent } from './event.js';

/*
 * Events as bytes, one record each. 100,000 events as objects would keep the garbage collector busy, and every line
 * waits while it works. It never looks into bytes, and their size is known.
 */

/** Codes of states: their places in this list. */
export const STATES = [
  'open',
  'lost',
  'waiting',
  'failed',
  'not opened',
  'stopped',
  'changed',
  'real device',
] as const satisfies readonly LineStateEvent['state'][];

/** Codes of the states of a test: their places in this list. */
export const TEST_STATES = ['began', 'step', 'over'] as const satisfies readonly TestEvent['state'][];

/** Codes of framings: their places in this list. */
export const FRAMING_NAMES = ['rtu', 'ascii', 'socket'] as const satisfies readonly Framing['name'][];

export const FRAMING_CODES = { rtu: 0, ascii: 1, socket: 2 } as const satisfies Record<
  Framing['name'],
  number
>;

/** A code for each kind of event: its place in the list of kinds. */
export const KIND_CODES = Object.fromEntries(EVENT_KINDS.map((kind, code) => [kind, code])) as Record<
  EventKind,
  number
>;

/** Of the kinds whose records have a unit identifier and a function code right behind the kind. */
export const LAST_WITH_UNIT = KIND_CODES.reply;

/** Whether a reply is written as `plain-reply-record.ts` says. */
export const PLAIN = 1;
export const NOT_PLAIN = 0;

/** In the place of a code of `REFUSALS`. */
export const NOT_REFUSED = 0xff;

/** Bytes that came all at once, on a line where characters take no time. */
export const AT_ONCE = 1;
export const OVER_TIME = 0;
