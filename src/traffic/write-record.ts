import type { ActedFault } from '../faults/apply.js';
import type { Framing } from '../protocol/framing.js';
import { REFUSALS } from '../protocol/pdu.js';
import { sizeOfText, type Writer } from './bytes.js';
import type { ClientOf, EventOf, NewEvent, Received } from './event.js';
import { plainReplyBytes } from './plain-reply-record.js';
import { sizeOfPlan, writePlan } from './plan-record.js';
import {
  AT_ONCE,
  FRAMING_CODES,
  KIND_CODES,
  NOT_PLAIN,
  NOT_REFUSED,
  OVER_TIME,
  PLAIN,
  STATES,
  TEST_STATES,
} from './record-codes.js';

/** No fewer bytes than a record takes besides its bytes, texts and steps. */
const FIXED_SIZE = 128;

/** No fewer bytes than the record of `event` takes. */
export function sizeOf(event: NewEvent): number {
  switch (event.kind) {
    case 'reply': {
      const { client = '', requestAdu, plan, report, acted } = event;
      return (
        FIXED_SIZE + sizeOfText(client) + requestAdu.length + sizeOfPlan(plan, report) + sizeOfActed(acted)
      );
    }
    case 'line':
    case 'test':
      return FIXED_SIZE + sizeOfText(event.text);
    case 'client':
    case 'client gone':
    case 'client rejected':
      return FIXED_SIZE + sizeOfText(event.text) + sizeOfText(event.client ?? '');
    case 'echo':
    case 'loop':
    case 'collision':
    case 'overrun':
    case 'damaged characters':
      return FIXED_SIZE;
    default:
      return FIXED_SIZE + event.bytes.length + sizeOfText(event.client ?? '');
  }
}

/**
 * Writes an event. `sizeOf` says how much room it needs.
 * @param seq of the event
 * @param before the event whose record is right before; undefined where that is in other memory
 */
export function writeEvent(w: Writer, event: NewEvent, seq: number, before: NewEvent | undefined): void {
  w.byte(KIND_CODES[event.kind]);
  switch (event.kind) {
    case 'reply':
      w.byte(event.unitId);
      w.byte(event.functionCode);
      w.number(event.at);
      writeReply(w, event, plainReplyBytes(event, seq, before));
      return;
    case 'line':
      w.number(event.at);
      w.byte(STATES.indexOf(event.state));
      w.text(event.text);
      return;
    case 'test':
      w.number(event.at);
      w.long(event.test);
      w.byte(TEST_STATES.indexOf(event.state));
      w.text(event.text);
      return;
    case 'client':
    case 'client gone':
    case 'client rejected':
      w.number(event.at);
      writeClient(w, event);
      w.text(event.text);
      return;
    case 'echo':
    case 'loop':
    case 'collision':
    case 'overrun':
    case 'damaged characters':
      w.number(event.at);
      w.long(event.count);
      w.byte(Number(event.isRest));
      return;
    case 'damaged':
    case 'discarded':
      w.number(event.at);
      writeReceived(w, event);
      w.byte(Number(event.isRest));
      return;
    case 'unasked':
      w.number(event.at);
      writeReceived(w, event);
      return;
    default:
      w.byte(event.unitId);
      w.byte(event.functionCode);
      w.number(event.at);
      writeReceived(w, event);
      writeAnswers(w, event.answers);
  }
}

function writeReply(
  w: Writer,
  event: Omit<EventOf<'reply'>, 'seq' | 'line' | 'time'>,
  plain: Uint8Array | undefined,
): void {
  if (plain !== undefined) {
    w.byte(PLAIN);
    w.bytes(plain);
    return;
  }
  w.byte(NOT_PLAIN);
  writeClient(w, event);
  writeFraming(w, event.framing);
  w.number(event.request);
  w.number(event.requestedAt);
  w.bytes(event.requestAdu);
  writePlan(w, event.plan, event.report);
  writeActed(w, event.acted);
  w.word(event.omittedFaults);
  const { refused } = event;
  w.byte(refused === undefined ? NOT_REFUSED : REFUSALS.indexOf(refused.why));
  if (refused === undefined) return;
  // One more than the last address may be meant.
  w.long(refused.address);
  w.word(refused.quantity);
}

function writeClient(w: Writer, { client, clientId }: ClientOf): void {
  w.long(clientId);
  if (clientId !== 0) w.text(client ?? '');
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

function writeFraming(w: Writer, { name, delimiter = 0 }: Framing): void {
  w.byte(FRAMING_CODES[name]);
  w.byte(delimiter);
}

function sizeOfActed(acted: readonly ActedFault[]): number {
  let size = 0;
  for (const { rule, kind, notAchieved = '' } of acted) {
    size += sizeOfText(rule) + sizeOfText(kind) + sizeOfText(notAchieved);
  }
  return size;
}

function writeActed(w: Writer, acted: readonly ActedFault[]): void {
  w.word(acted.length);
  for (const { rule, kind, notAchieved } of acted) {
    w.text(rule);
    w.text(kind);
    w.text(notAchieved ?? '');
  }
}
