import type { Logger } from 'pino';
import { concatBytes, hex } from '../../modbus/protocol/bytes.js';
import { sentBytes } from '../../modbus/protocol/reply-plan.js';
import { damageText, decodeEvent } from './decode.js';
import type { ClientOf, EventKind, LineStateEvent, NewEvent } from './event.js';

/** Maximum number of bytes in one log entry. Faults can make replies long. */
const MAX_LOGGED = 256;

/** Minimum time between two warnings of the same kind, in ms. */
const INTERVAL_MS = 10_000;

interface Passed {
  at: number;
  /** The number of warnings of this kind left out since then. */
  leftOut: number;
}

/**
 * Lets the first warning of each kind through, and then at most one in ten seconds. A flooded line causes
 * thousands.
 */
class WarningLimit<Kind> {
  readonly #passed = new Map<Kind, Passed>();

  /**
   * @param at the current time, in ms of `performance.now()`
   * @returns how many warnings of this kind were left out since the last one; undefined if this one must be
   * left out
   */
  pass(kind: Kind, at: number): number | undefined {
    const last = this.#passed.get(kind);
    if (last && at - last.at < INTERVAL_MS) {
      last.leftOut++;
      return undefined;
    }
    this.#passed.set(kind, { at, leftOut: 0 });
    return last?.leftOut ?? 0;
  }
}

/**
 * Logs the events of a line: its states; problems on the bus, as warnings; and everything at level `debug`.
 * Texts for level `debug` are made only if they are logged.
 */
export class EventLog {
  readonly #log: Logger;
  readonly #warnings = new WarningLimit<EventKind>();

  constructor(log: Logger) {
    this.#log = log;
  }

  event(event: NewEvent): void {
    if (event.kind === 'line') {
      this.#state(event);
      return;
    }
    if (event.kind === 'client' && event.text !== '') {
      this.#log.info({ client: event.client, role: event.text }, 'client with a role');
    }
    const warning = warningOf(event);
    const leftOut = warning === undefined ? undefined : this.#warnings.pass(event.kind, event.at);
    if (warning !== undefined && leftOut !== undefined) {
      this.#log.warn(
        { ...detailsOf(event), ...(leftOut > 0 && { leftOut }) },
        withLeftOut(warning(), leftOut),
      );
    } else if (this.#log.isLevelEnabled('debug')) {
      this.#log.debug(detailsOf(event), textOf(event));
    }
  }

  #state({ kind, state, text, at }: Extract<NewEvent, { kind: 'line' }>): void {
    if (state !== 'real device') {
      const { level, key, message } = STATES[state];
      this.#log[level](key === undefined ? {} : { [key]: text }, message);
      return;
    }
    // A client that writes to a device which does not accept writes usually repeats it.
    const leftOut = this.#warnings.pass(kind, at);
    if (leftOut !== undefined) this.#log.warn(withLeftOut(`real device ${text}`, leftOut));
  }
}

/** How each state of a line is logged, and the key for the text of its event. */
const STATES: Readonly<
  Record<
    Exclude<LineStateEvent['state'], 'real device'>,
    { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly key?: string; readonly message: string }
  >
> = {
  open: { level: 'info', key: 'place', message: 'line open' },
  lost: { level: 'warn', key: 'reason', message: 'line lost, waiting for it to come back' },
  waiting: { level: 'debug', key: 'reason', message: 'line not back yet' },
  failed: { level: 'error', key: 'text', message: 'line failed' },
  stopped: { level: 'info', message: 'line stopped' },
  'not opened': { level: 'info', key: 'reason', message: 'line did not open' },
  changed: { level: 'info', key: 'settings', message: 'line changed' },
};

/** The text of an event that deserves a warning; undefined for all others. */
function warningOf(event: NewEvent): (() => string) | undefined {
  switch (event.kind) {
    case 'damaged':
      return event.isRest ? undefined : () => damageText(event.bytes, event.framing);
    case 'duplicate':
      return () => `another device answers for unit ${event.unitId}, which is ours`;
    case 'loop':
      return () =>
        'our own replies came back repeatedly, so further ones are ignored; set "echo: yes" if this adapter receives what it sends, "echo: no" if a client really repeats its writes this fast';
    case 'collision':
      return () => 'collision: another device sent while a reply was on the wire';
    case 'overrun':
      return () => 'the UART lost characters';
    default:
      return undefined;
  }
}

function withLeftOut(text: string, leftOut: number): string {
  return leftOut === 0 ? text : `${text} (${leftOut} more since the last warning)`;
}

/** Formats the event, with the faults that acted: `reply: unit 1 read coils 0: …; faults: late (delay)`. */
function textOf(event: NewEvent): string {
  const { text } = decodeEvent({ ...event, seq: 0, line: '', time: 0 }, () => undefined);
  const acted = event.kind === 'reply' ? faultsOf(event) : [];
  const faults = acted.length > 0 ? `; faults: ${acted.join(', ')}` : '';
  return text.startsWith(event.kind) ? text : `${event.kind}: ${text}${faults}`;
}

function faultsOf({ acted }: Extract<NewEvent, { kind: 'reply' }>): string[] {
  return [
    ...new Set(
      acted.map(
        ({ rule, kind, notAchieved }) =>
          `${rule} (${kind}${notAchieved === undefined ? '' : `, not achieved: ${notAchieved}`})`,
      ),
    ),
  ];
}

function detailsOf(event: NewEvent): object {
  switch (event.kind) {
    case 'reply':
      return replyDetails(event);
    case 'damaged':
    case 'discarded':
    case 'unsolicited':
      return bytesOf(event.bytes);
    case 'echo':
    case 'loop':
    case 'collision':
    case 'line':
      return {};
    case 'test':
      return { test: event.test };
    case 'overrun':
    case 'damaged characters':
      return { count: event.count };
    case 'client':
    case 'client gone':
    case 'client rejected':
      return clientOf(event);
    default:
      return { unitId: event.unitId, adu: hex(event.bytes), ...clientOf(event) };
  }
}

function clientOf({ client, host }: ClientOf): object {
  return { client, ...(host !== undefined && { host }) };
}

function replyDetails(event: Extract<NewEvent, { kind: 'reply' }>): object {
  const { unitId, requestedAt, plan, report, at } = event;
  const sent = concatBytes(...sentBytes(plan, report));
  const turnaround = sent.length > 0 ? Number((at - requestedAt).toFixed(3)) : undefined;
  const faults = faultsOf(event);
  return {
    unitId,
    ended: report.ended,
    turnaround,
    ...(faults.length > 0 && { faults }),
    ...bytesOf(sent),
  };
}

function bytesOf(bytes: Uint8Array) {
  return { bytes: hex(bytes.subarray(0, MAX_LOGGED)), length: bytes.length };
}
