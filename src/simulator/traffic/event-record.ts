import { type Reader, sizeOfText, type Writer } from './bytes.js';
import {
  EVENT_KINDS,
  type EventKind,
  type EventOf,
  type LineStateEvent,
  type NewEvent,
  type Received,
  type RejectedEvent,
  type TestEvent,
  type TrafficEvent,
} from './event.js';
import {
  itemAt,
  readClient,
  readFraming,
  readReply,
  sizeOfClient,
  sizeOfReply,
  writeClient,
  writeFraming,
  writeReply,
} from './reply-record.js';

/**
 * Events as bytes, one record each. As objects, 100,000 events would keep the garbage collector busy, and
 * every line waits while it works. The collector does not look into bytes, and their size is known.
 */

/** The states of a line. The code of a state is its index in this list. */
const STATES = [
  'open',
  'lost',
  'waiting',
  'failed',
  'not opened',
  'stopped',
  'changed',
  'real device',
] as const satisfies readonly LineStateEvent['state'][];

/** The states of a test. The code of a state is its index in this list. */
const TEST_STATES = ['began', 'step', 'over'] as const satisfies readonly TestEvent['state'][];

/** The reasons for rejecting a client. The code of a reason is its index in this list. */
const REASONS = [
  'protocol',
  'idle',
  'slow',
  'limit',
  'tls',
] as const satisfies readonly RejectedEvent['reason'][];

/** The code of each kind of event: its index in the list of kinds. */
const KIND_CODES = Object.fromEntries(EVENT_KINDS.map((kind, code) => [kind, code])) as Record<
  EventKind,
  number
>;

/** The last kind whose records have a unit identifier and a function code directly after the kind. */
const LAST_WITH_UNIT = KIND_CODES.reply;

/** The code for bytes that arrived all at once, on a line that is not serial. */
const AT_ONCE = 1;
const OVER_TIME = 0;

/** Maximum number of bytes in a record other than its bytes, texts and steps. */
const FIXED_SIZE = 128;

/** Maximum size of the record of `event`, in bytes. */
export function sizeOf(event: NewEvent): number {
  if (event.kind === 'reply') return FIXED_SIZE + sizeOfReply(event);
  const bytes = 'bytes' in event ? event.bytes.length : 0;
  const client = 'client' in event ? sizeOfClient(event) : 0;
  return FIXED_SIZE + bytes + client + ('text' in event ? sizeOfText(event.text) : 0);
}

/**
 * Writes an event. `sizeOf` returns the room that it needs.
 * @param seq the sequence number of the event
 * @param before the event whose record directly precedes this one; undefined if that is in other memory
 */
export function writeEvent(w: Writer, event: NewEvent, seq: number, before: NewEvent | undefined): void {
  w.byte(KIND_CODES[event.kind]);
  if ('unitId' in event) {
    w.byte(event.unitId);
    w.byte(event.functionCode);
  }
  w.number(event.at);
  switch (event.kind) {
    case 'reply':
      writeReply(w, event, seq, before);
      return;
    case 'line':
      w.byte(STATES.indexOf(event.state));
      w.text(event.text);
      return;
    case 'test':
      w.long(event.test);
      w.byte(TEST_STATES.indexOf(event.state));
      w.text(event.text);
      return;
    case 'client':
    case 'client gone':
      writeClient(w, event);
      w.text(event.text);
      return;
    case 'client rejected':
      writeClient(w, event);
      w.byte(REASONS.indexOf(event.reason));
      w.text(event.text);
      return;
    case 'echo':
    case 'loop':
    case 'collision':
    case 'overrun':
    case 'damaged characters':
      w.long(event.count);
      w.byte(Number(event.isRest));
      return;
    default:
      writeReceived(w, event);
      if ('isRest' in event) w.byte(Number(event.isRest));
      else if ('answers' in event) writeAnswers(w, event.answers);
  }
}

/** The part of a record that can be read without reading all of it. */
export interface RecordOutline {
  readonly kind: EventKind;
  /** The unit identifier; undefined if the event has none. */
  readonly unitId: number | undefined;
  /** The function code; undefined if the event has none. */
  readonly functionCode: number | undefined;
}

export function readOutline(r: Reader): RecordOutline {
  const code = r.byte();
  const kind = itemAt(EVENT_KINDS, code);
  if (code > LAST_WITH_UNIT) return { kind, unitId: undefined, functionCode: undefined };
  return { kind, unitId: r.byte(), functionCode: r.byte() };
}

type Place = Pick<TrafficEvent, 'seq' | 'line' | 'time'>;

/**
 * Reads an event. All properties are named one by one, because spreading takes ten times as long (10 µs per
 * event), and a filter may read 100,000 events.
 * @param before reads the event whose record directly precedes this one, from the same reader
 */
export function readEvent(r: Reader, { seq, line, time }: Place, before: () => TrafficEvent): TrafficEvent {
  const { kind, unitId = 0, functionCode = 0 } = readOutline(r);
  const at = r.number() ?? 0;
  switch (kind) {
    case 'reply':
      return readReply(r, { seq, line, time, at, unitId, functionCode }, before);
    case 'line':
      return { kind, seq, line, time, at, state: itemAt(STATES, r.byte()), text: r.text() };
    case 'test': {
      const test = r.long();
      return { kind, seq, line, time, at, test, state: itemAt(TEST_STATES, r.byte()), text: r.text() };
    }
    case 'client':
    case 'client gone': {
      const { clientId, client, host } = readClient(r);
      return { kind, seq, line, time, at, client, clientId, host, text: r.text() };
    }
    case 'client rejected': {
      const { clientId, client, host } = readClient(r);
      const reason = itemAt(REASONS, r.byte());
      return { kind, seq, line, time, at, client, clientId, host, reason, text: r.text() };
    }
    case 'echo':
    case 'loop':
    case 'collision':
    case 'overrun':
    case 'damaged characters':
      return { kind, seq, line, time, at, count: r.long(), isRest: r.byte() === 1 };
    default: {
      const { clientId, client, host } = readClient(r);
      const bytes = r.bytes();
      const framing = readFraming(r);
      const pause = r.number();
      const isAtOnce = r.byte() === AT_ONCE;
      const startedAt = isAtOnce ? at : (r.number() ?? 0);
      const characterTime = isAtOnce ? 0 : (r.number() ?? 0);
      if (kind === 'damaged' || kind === 'discarded' || kind === 'unsolicited') {
        const received = { client, clientId, host, bytes, framing, startedAt, pause, characterTime };
        const common = { seq, line, time, at, ...received };
        return kind === 'unsolicited' ? { kind, ...common } : { kind, ...common, isRest: r.byte() === 1 };
      }
      const answers = readAnswers(r);
      return {
        kind,
        seq,
        line,
        time,
        at,
        client,
        clientId,
        host,
        bytes,
        framing,
        startedAt,
        pause,
        characterTime,
        unitId,
        functionCode,
        answers,
      };
    }
  }
}

function writeReceived(w: Writer, event: Received & { readonly at: number }): void {
  writeClient(w, event);
  w.bytes(event.bytes);
  writeFraming(w, event.framing);
  w.number(event.pause);
  if (event.startedAt === event.at && event.characterTime === 0) {
    w.byte(AT_ONCE);
    return;
  }
  w.byte(OVER_TIME);
  w.number(event.startedAt);
  w.number(event.characterTime);
}

function writeAnswers(w: Writer, answers: EventOf<'foreign response'>['answers']): void {
  w.byte(Number(answers !== undefined));
  if (answers === undefined) return;
  w.number(answers.seq);
  w.number(answers.after);
}

function readAnswers(r: Reader): EventOf<'foreign response'>['answers'] {
  return r.byte() === 1 ? { seq: r.number() ?? 0, after: r.number() ?? 0 } : undefined;
}
