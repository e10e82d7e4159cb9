import type { Logger } from 'pino';
import { concatBytes, hex } from '../protocol/bytes.js';
import type { NewEvent } from './event.js';
import { sentBytes } from './sent-bytes.js';

/** Limit of the bytes in one log entry. Faults can make long replies. */
const MAX_LOGGED = 256;

/**
 * Logs an event of a line. A flooded line causes thousands of events per second, so the texts of those at level `debug`
 * are made only when they are logged.
 */
export function logEvent(log: Logger, event: NewEvent): void {
  if (log.isLevelEnabled('debug')) logDetail(log, event);
  switch (event.kind) {
    case 'line':
      logState(log, event);
      break;
    case 'duplicate':
      log.warn(frameOf(event), 'another device answers for this unit identifier');
      break;
    case 'loop':
      log.warn(
        'the same replies came back again and again, so the next ones are not executed; say "echo: yes" if the adapter of this line hears what it sends, "echo: no" if a client repeats its writes so fast',
      );
      break;
    case 'collision':
      log.warn('collision: somebody else spoke while a reply was on the wire');
      break;
    case 'overrun':
      log.warn({ count: event.count }, 'the UART has lost characters');
  }
}

function logState(log: Logger, { state, text }: Extract<NewEvent, { kind: 'line' }>): void {
  switch (state) {
    case 'open':
      log.info({ place: text }, 'line open');
      break;
    case 'lost':
      log.warn({ reason: text }, 'line lost, waiting for it to come back');
      break;
    case 'failed':
      log.error({ text }, 'line failed');
      break;
    case 'stopped':
      log.info('line stopped');
      break;
    case 'not opened':
      log.info({ reason: text }, 'line did not open');
      break;
    case 'changed':
      log.info({ settings: text }, 'line changed');
  }
}

function logDetail(log: Logger, event: NewEvent): void {
  switch (event.kind) {
    case 'request':
    case 'broadcast':
      log.debug({ ...frameOf(event), client: event.client }, event.kind);
      break;
    case 'foreign request':
    case 'foreign response':
      log.debug(frameOf(event), `${event.kind}, for unit ${event.unitId}, which is not ours`);
      break;
    case 'dropped':
      log.debug(frameOf(event), 'request dropped, a reply is pending');
      break;
    case 'damaged':
      log.debug(bytesOf(event.bytes), event.framing.name === 'ascii' ? 'LRC error' : 'CRC error');
      break;
    case 'discarded':
      log.debug(bytesOf(event.bytes), 'bytes discarded, they are no frame');
      break;
    case 'damaged characters':
      log.debug({ count: event.count }, 'damaged characters');
      break;
    case 'reply':
      logReply(log, event);
      break;
    case 'line':
      if (event.state === 'waiting') log.debug({ reason: event.text }, 'line not back yet');
      break;
    case 'client':
    case 'client gone':
    case 'client rejected':
      log.debug({ client: event.client, text: event.text }, event.kind);
  }
}

function logReply(log: Logger, event: Extract<NewEvent, { kind: 'reply' }>): void {
  const { unitId, requestedAt, plan, report, acted, at } = event;
  const sent = concatBytes(...sentBytes(plan, report));
  const turnaround = sent.length > 0 ? Number((at - requestedAt).toFixed(3)) : undefined;
  const faults =
    acted.length > 0 ? [...new Set(acted.map(({ rule, kind }) => `${rule}: ${kind}`))] : undefined;
  const reason = plan.kind === 'silence' ? plan.reason : undefined;
  log.debug({ unitId, ended: report.ended, reason, turnaround, faults, ...bytesOf(sent) }, 'reply');
}

function frameOf({ unitId, bytes }: { readonly unitId: number; readonly bytes: Uint8Array }) {
  return { unitId, adu: hex(bytes) };
}

function bytesOf(bytes: Uint8Array) {
  return { bytes: hex(bytes.subarray(0, MAX_LOGGED)), length: bytes.length };
}
