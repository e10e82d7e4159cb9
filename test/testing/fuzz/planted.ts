import type { Habits } from '../client/habits.js';
import { WRITES_BACK } from '../client/observers.js';
import { SEVERAL } from '../client/shapes.js';
import { counts, type Deed, type Effect, type Feeling, inOrder, type Trap } from './trap.js';

/** A model client with one mistake that no single move brings to light. */
export interface Planted {
  readonly name: string;
  readonly on: 'serial' | 'tcp';
  readonly habits: Partial<Habits>;
  /** The values that it has read are observed. */
  readonly isObserved: boolean;
  /** What its mistake needs, in this order: as many moves. */
  readonly needs: readonly Feeling[];
  readonly deed: Deed;
  /** The mistake of a client that was just started. */
  readonly trap: () => Trap;
}

const felt = (name: string, ...effects: readonly Effect[]): Feeling => ({
  name,
  fits: ({ effect }) => effects.includes(effect),
});
const exception = (name: string, ...codes: readonly number[]): Feeling => ({
  name,
  fits: ({ effect, code }) => effect === 'exception' && (codes.length === 0 || codes.includes(code ?? 0)),
});

/** What is felt of one move each. */
const NONE = felt('no reply', 'none');
const OUTAGE = felt('no reply to any attempt', 'gave up');
const BAD = felt('bad reply', 'bad');
const PARTIAL = felt('part of a reply', 'partial');
const LATE = felt('late reply', 'late');
const JUMP = felt('value jumps', 'value');
const CLOSED = felt('connection closed', 'closed');
const REFUSED = felt('connecting refused', 'refused');
const EXCEPTION = exception('exception');
const BUSY = exception('busy', 5, 6);
const LASTING = exception('exception 1 to 4', 1, 2, 3, 4);
const OTHER: Feeling = {
  name: 'another exception',
  fits: ({ effect, code }, before) => effect === 'exception' && before !== undefined && before.code !== code,
};
const LONG_NOISE: Feeling = {
  name: 'long noise',
  fits: ({ effect, bytes }) => (effect === 'bad' || effect === 'late') && bytes >= 20,
};

/** Polling shapes. */
const ONE: Partial<Habits> = {};
const FAST: Partial<Habits> = { periodMs: 50, timeoutMs: 200, attempts: 2 };
const SLOW: Partial<Habits> = { periodMs: 1000, timeoutMs: 800, attempts: 2, pausesMs: [100] };
const ROUND: Partial<Habits> = { questions: SEVERAL, periodMs: 500 };
const GRID: Partial<Habits> = { questions: SEVERAL, rhythm: 'grid', periodMs: 1000, timeoutMs: 300 };
const ONCE: Partial<Habits> = { attempts: 1, periodMs: 300, timeoutMs: 400 };
const HASTY: Partial<Habits> = { atBadReply: 'gives up at once', attempts: 2 };
const PERSISTENT: Partial<Habits> = {
  questions: SEVERAL,
  periodMs: 250,
  attempts: 2,
  reconnectsOnGivingUp: false,
};
const ANEW: Partial<Habits> = { questions: SEVERAL, atBadReply: 'connects anew', attempts: 2 };
const CAUTIOUS: Partial<Habits> = { reconnectsOnTimeout: true, reconnectPauseMs: 500, attempts: 2 };

/** Requests from one effect to the next. */
const SOON = 20;
const LATER = 80;
const ANY_TIME = Number.POSITIVE_INFINITY;

type Row = readonly [
  name: string,
  habits: Partial<Habits>,
  needs: readonly Feeling[],
  within: number,
  deed: Deed,
];

/** A counter of errors: three moves of two errors each are enough, and none of them is. */
const COUNTER = -1;
const FIFTH = 5;

const SERIAL: readonly Row[] = [
  ['counts errors, never resets, ends at the fifth', ONE, [BAD, BAD, BAD], COUNTER, 'ends'],
  ['a buffer that overflows after two long noises', ROUND, [LONG_NOISE, LONG_NOISE], ANY_TIME, 'ends'],
  ['an exception after a time-out leaves a lock taken', ONE, [NONE, EXCEPTION], SOON, 'dies'],
  ['two exceptions of different codes', ROUND, [EXCEPTION, OTHER], LATER, 'dies'],
  ['an exception after a late reply: answers instead of asking', FAST, [LATE, EXCEPTION], LATER, 'babbles'],
  ['late replies twice: old values', ONE, [LATE, LATE], LATER, 'invents'],
  ['an outage after a bad reply: a back-off that stays', ROUND, [BAD, OUTAGE], LATER, 'slows'],
  ['a bad reply after half of one: retries without a pause', HASTY, [PARTIAL, BAD], SOON, 'floods'],
  ['a jump after an exception: keeps an average', ONE, [EXCEPTION, JUMP], LATER, 'invents'],
  ['no reply, a bad one, an exception', GRID, [NONE, BAD, EXCEPTION], ANY_TIME, 'dies'],
  ['a back-off that grows with each outage', GRID, [OUTAGE, OUTAGE], ANY_TIME, 'slows'],
  ['an outage while an alarm is up: asks only for the alarm', ROUND, [JUMP, OUTAGE], LATER, 'strays'],
  ['no reply while the device was busy: tries again at once', ONE, [BUSY, NONE], LATER, 'floods'],
  ['half a reply twice: sends what is in its buffer', SLOW, [PARTIAL, PARTIAL], LATER, 'babbles'],
  ['bad replies twice: other questions are struck off', ROUND, [BAD, BAD], LATER, 'strays'],
  ['an outage after an illegal address: the list is lost', GRID, [LASTING, OUTAGE], LATER, 'strays'],
  ['a late reply, a bad one, none', ONE, [LATE, BAD, NONE], ANY_TIME, 'ends'],
  ['a jump after no reply: takes a difference', FAST, [NONE, JUMP], LATER, 'invents'],
  ['an exception while half a reply is kept', FAST, [PARTIAL, EXCEPTION], SOON, 'ends'],
  ['a bad reply after an alarm', ONCE, [JUMP, BAD], LATER, 'hangs'],
];

const TCP: readonly Row[] = [
  ['a late reply taken after a reconnect', ONE, [CLOSED, LATE], SOON, 'invents'],
  ['dies of a bad reply on a new connection', ROUND, [CLOSED, BAD], SOON, 'dies'],
  ['a transaction identifier that skips after two outages', FAST, [OUTAGE, OUTAGE], LATER, 'babbles'],
  ['an exception after a refused connection', ROUND, [REFUSED, EXCEPTION], LATER, 'ends'],
  ['three connections closed: no socket is left', ONE, [CLOSED, CLOSED, CLOSED], ANY_TIME, 'hangs'],
  ['late replies twice: waits for the right one', PERSISTENT, [LATE, LATE], LATER, 'hangs'],
  ['a connection closed while an exception is handled', HASTY, [EXCEPTION, CLOSED], SOON, 'dies'],
  ['a back-off that grows for ever', GRID, [REFUSED, REFUSED], ANY_TIME, 'slows'],
  ['half a reply, then a closed connection', PERSISTENT, [PARTIAL, CLOSED], SOON, 'ends'],
  ['a jump after a reconnect: keeps an average', CAUTIOUS, [CLOSED, JUMP], LATER, 'invents'],
  ['no reply after a wrong one: asks again without end', ONE, [BAD, NONE], SOON, 'floods'],
  ['no reply, a closed connection, an exception', ROUND, [NONE, CLOSED, EXCEPTION], ANY_TIME, 'dies'],
  ['two exceptions of different codes: questions are struck off', ROUND, [EXCEPTION, OTHER], LATER, 'strays'],
  ['counts errors, never resets, floods at the fifth', SLOW, [BAD, BAD, BAD], COUNTER, 'floods'],
  ['a closed connection after a late reply: sends the rest of it', ONCE, [LATE, CLOSED], LATER, 'babbles'],
  ['an exception after an alarm: a pause that stays', SLOW, [JUMP, EXCEPTION], LATER, 'slows'],
  ['a refused connection after a bad reply', ANEW, [BAD, REFUSED], LATER, 'slows'],
  ['a closed connection while the device is busy', ONE, [BUSY, CLOSED], LATER, 'floods'],
  ['a jump after a late reply', ROUND, [LATE, JUMP], LATER, 'invents'],
  ['a bad reply after an outage: questions are struck off', ANEW, [OUTAGE, BAD], SOON, 'strays'],
];

/** Forty clients with one mistake each. */
export const PLANTED: readonly Planted[] = [
  ...SERIAL.map((row) => planted('serial', row)),
  ...TCP.map((row) => planted('tcp', row)),
];

function planted(on: Planted['on'], [name, habits, needs, within, deed]: Row): Planted {
  const isObserved = deed === 'invents';
  const trap = () => (within === COUNTER ? counts(FIFTH, deed) : inOrder(needs, within, deed));
  return { name, on, habits: { ...habits, ...(isObserved && WRITES_BACK) }, isObserved, needs, deed, trap };
}
