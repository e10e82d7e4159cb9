import type { ActedFault } from '../faults/apply.js';
import type { Framing } from '../protocol/framing.js';
import { FRAMINGS } from '../protocol/framings.js';
import { REFUSALS } from '../protocol/pdu.js';
import type { Reader } from './bytes.js';
import { EVENT_KINDS, type EventKind, type EventOf, type TrafficEvent } from './event.js';
import { plainReplyEvent } from './plain-reply-record.js';
import { readPlan } from './plan-record.js';
import {
  AT_ONCE,
  FRAMING_NAMES,
  LAST_WITH_UNIT,
  NOT_REFUSED,
  PLAIN,
  STATES,
  TEST_STATES,
} from './record-codes.js';

/** What is known of a record without reading all of it. */
export interface RecordOutline {
  readonly kind: EventKind;
  /** Undefined where the event has none. */
  readonly unitId: number | undefined;
  /** Undefined where the event has none. */
  readonly functionCode: number | undefined;
}

/** Where an event stands in the stream. */
type Place = Pick<TrafficEvent, 'seq' | 'line' | 'time'>;

/**
 * Reads the event that was written. Properties are named one by one all over, because spreading takes ten times as long
 * (10 µs for an event), and a filter may read 100,000 of them.
 * @param before reads the event whose record is right before, from the same reader
 */
export function readEvent(r: Reader, { seq, line, time }: Place, before: () => TrafficEvent): TrafficEvent {
  const { kind, unitId = 0, functionCode = 0 } = readOutline(r);
  const at = r.number() ?? 0;
  switch (kind) {
    case 'reply': {
      if (r.byte() === PLAIN) {
        const bytes = r.bytes();
        return plainReplyEvent(bytes, { seq, line, time, at }, before() as EventOf<'request'>);
      }
      const [clientId, client] = readClient(r);
      const framing = readFraming(r);
      const [request, requestedAt] = [r.number() ?? 0, r.number() ?? 0];
      const requestAdu = r.bytes();
      const { plan, report } = readPlan(r);
      const acted = readActed(r);
      const omittedFaults = r.word();
      const refused = readRefused(r);
      return {
        kind,
        seq,
        line,
        time,
        at,
        client,
        clientId,
        framing,
        request,
        requestAdu,
        requestedAt,
        unitId,
        functionCode,
        plan,
        report,
        acted,
        omittedFaults,
        refused,
      };
    }
    case 'line':
      return { kind, seq, line, time, at, state: itemAt(STATES, r.byte()), text: r.text() };
    case 'test': {
      const test = r.long();
      return { kind, seq, line, time, at, test, state: itemAt(TEST_STATES, r.byte()), text: r.text() };
    }
    case 'client':
    case 'client gone':
    case 'client rejected': {
      const [clientId, client] = readClient(r);
      return { kind, seq, line, time, at, client, clientId, text: r.text() };
    }
    case 'echo':
    case 'loop':
    case 'collision':
    case 'overrun':
    case 'damaged characters':
      return { kind, seq, line, time, at, count: r.long(), isRest: r.byte() === 1 };
    default: {
      const [clientId, client] = readClient(r);
      const bytes = r.bytes();
      const framing = readFraming(r);
      const pause = r.number();
      const isAtOnce = r.byte() === AT_ONCE;
      const startedAt = isAtOnce ? at : (r.number() ?? 0);
      const characterTime = isAtOnce ? 0 : (r.number() ?? 0);
      if (kind === 'damaged' || kind === 'discarded' || kind === 'unasked') {
        const received = { client, clientId, bytes, framing, startedAt, pause, characterTime };
        const common = { seq, line, time, at, ...received };
        return kind === 'unasked' ? { kind, ...common } : { kind, ...common, isRest: r.byte() === 1 };
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

/** Reads the beginning of a record. */
export function readOutline(r: Reader): RecordOutline {
  const code = r.byte();
  const kind = itemAt(EVENT_KINDS, code);
  if (code > LAST_WITH_UNIT) return { kind, unitId: undefined, functionCode: undefined };
  return { kind, unitId: r.byte(), functionCode: r.byte() };
}

function readClient(r: Reader): [clientId: number, client: string | undefined] {
  const clientId = r.long();
  return [clientId, clientId === 0 ? undefined : r.text()];
}

function readAnswers(r: Reader): EventOf<'foreign response'>['answers'] {
  return r.byte() === 1 ? { seq: r.number() ?? 0, after: r.number() ?? 0 } : undefined;
}

function readFraming(r: Reader): Framing {
  const framing = FRAMINGS[itemAt(FRAMING_NAMES, r.byte())];
  const delimiter = r.byte();
  return delimiter === framing.delimiter ? framing : (framing.withDelimiter?.(delimiter) ?? framing);
}

function readRefused(r: Reader): EventOf<'reply'>['refused'] {
  const why = r.byte();
  return why === NOT_REFUSED
    ? undefined
    : { address: r.long(), quantity: r.word(), why: itemAt(REFUSALS, why) };
}

function readActed(r: Reader): ActedFault[] {
  const acted: ActedFault[] = [];
  for (let left = r.word(); left > 0; left--) {
    const [rule, kind, notAchieved] = [r.text(), r.text(), r.text()];
    acted.push({ rule, kind, ...(notAchieved && { notAchieved }) });
  }
  return acted;
}

function itemAt<Item>(items: readonly Item[], code: number): Item {
  const item = items[code];
  if (item === undefined) throw new Error(`a record has an unknown code: ${code}`);
  return item;
}
