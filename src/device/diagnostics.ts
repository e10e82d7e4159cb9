import { LINE_FEED, mayDelimit } from '../protocol/ascii.js';
import { concatBytes, packWords, wordAt } from '../protocol/bytes.js';
import { decodeDiagnostics, SubFunction } from '../protocol/decode-diagnostics.js';
import { ExceptionCode } from '../protocol/exception-code.js';
import { EXCEPTION_FLAG, FunctionCode } from '../protocol/function-code.js';
import { functionOf } from '../protocol/function-table.js';

/** Events of the log, a byte each (Application Protocol V1.1b3, 6.10). */
const Event = {
  restart: 0x00,
  listenOnly: 0x04,
  send: 0x40,
  receive: 0x80,
} as const;

const RECEIVED_BROADCAST = 0x40;
const IN_LISTEN_ONLY = 0x20;
const RECEIVED_OVERRUN = 0x10;
const RECEIVED_ERROR = 0x02;

/** It is counted (6.8) and logged (6.10), although the list of exception codes (7) does not have it. */
const NEGATIVE_ACKNOWLEDGE = 7;

/** Bit of a send event by the exception that was sent: read, abort, busy or NAK. Others have none. */
const EXCEPTION_SENT: ReadonlyMap<number, number> = new Map([
  [ExceptionCode.illegalFunction, 0x01],
  [ExceptionCode.illegalDataAddress, 0x01],
  [ExceptionCode.illegalDataValue, 0x01],
  [ExceptionCode.serverDeviceFailure, 0x02],
  [ExceptionCode.acknowledge, 0x04],
  [ExceptionCode.serverDeviceBusy, 0x04],
  [NEGATIVE_ACKNOWLEDGE, 0x08],
]);

const LOG_SIZE = 64;

/** What was heard on a line since it was made, by whomever it was meant. Counts only ever grow. */
export interface Activity {
  /** Valid frames. */
  messages: number;
  /** Bursts of bytes that were no valid frames. */
  errors: number;
  /** Characters that the UART lost. */
  overruns: number;
  /** What ends the messages after the one being answered, as the last device was told; on ASCII lines only. */
  asciiDelimiter?: number | undefined;
}

type Counts = Omit<Activity, 'asciiDelimiter'>;

/** Counters that belong to one server; the numbers are the sub-functions of function 8 that return them. */
type OwnCounter =
  | typeof SubFunction.busExceptionErrorCount
  | typeof SubFunction.serverMessageCount
  | typeof SubFunction.serverNoResponseCount
  | typeof SubFunction.serverNakCount
  | typeof SubFunction.serverBusyCount;

const BITS_16 = 0xffff;

/**
 * What a server knows of the communication on its line: counters, event log, listen-only mode
 * (Application Protocol V1.1b3, 6.8 to 6.10; counted as in Modbus over Serial Line V1.02, 2.7).
 */
export class Diagnostics {
  readonly #activity: Activity;
  /** The line's activity when this server's counters were cleared. */
  #cleared: Counts;
  /** What it had counted at this server's last request. */
  #lastErrors: number;
  #lastOverruns: number;
  /** By sub-function; they wrap at 16 bits. */
  readonly #own = new Uint16Array(SubFunction.clearOverrunCounter);
  #eventCount = 0;
  /** A ring: the newest entry is the one before `#logged`. */
  readonly #log = new Uint8Array(LOG_SIZE);
  #logged = 0;
  #listenOnly = false;
  /** What the request being processed does once it is done: a restart comes after its own response (6.8). */
  #afterwards: (() => void) | undefined;

  constructor(activity: Activity) {
    this.#activity = activity;
    this.#cleared = { ...activity };
    this.#lastErrors = activity.errors;
    this.#lastOverruns = activity.overruns;
  }

  /** In listen-only mode a server answers nothing and does nothing, but for a restart. */
  get listenOnly(): boolean {
    return this.#listenOnly;
  }

  /** Successful requests since the last restart, without those that ask for events. */
  get eventCount(): number {
    return this.#eventCount;
  }

  /**
   * A request to this server came in: the first event it makes, before it is processed. In listen-only mode it is
   * "monitored, but no actions will be taken", so it is a message without a response.
   */
  received(broadcast: boolean): void {
    this.#add(this.#listenOnly ? SubFunction.serverNoResponseCount : SubFunction.serverMessageCount);
    const { errors, overruns } = this.#activity;
    const trouble =
      (errors > this.#lastErrors ? RECEIVED_ERROR : 0) |
      (overruns > this.#lastOverruns ? RECEIVED_OVERRUN : 0);
    this.#lastErrors = errors;
    this.#lastOverruns = overruns;
    this.#enter(Event.receive | (broadcast ? RECEIVED_BROADCAST : 0) | trouble | this.#mode());
  }

  /**
   * The request was processed with this response, if any. One that is not sent, as to a broadcast, counts as no
   * response, and its exception as an error all the same (Modbus over Serial Line V1.02, counter 3).
   */
  processed(responsePdu: Uint8Array | undefined, isSent: boolean): void {
    const functionCode = responsePdu?.[0] ?? 0;
    const exception = responsePdu?.[1] ?? 0;
    const failed = (functionCode & EXCEPTION_FLAG) !== 0;
    if (!isSent) this.#add(SubFunction.serverNoResponseCount);
    if (failed) this.#countException(exception);
    else if (!functionOf(functionCode)?.asksForEvents) this.#eventCount = (this.#eventCount + 1) & BITS_16;
    this.#enter(Event.send | (failed && isSent ? (EXCEPTION_SENT.get(exception) ?? 0) : 0) | this.#mode());
    this.#afterwards?.();
    this.#afterwards = undefined;
  }

  /** The request was none that is executed, or answered: a broadcast that reads. */
  ignored(): void {
    this.#add(SubFunction.serverNoResponseCount);
    this.#enter(Event.send | this.#mode());
  }

  /** Function 8: the data of the response, an exception code, or no response. The request has been checked. */
  execute(subFunction: number, data: Uint8Array): Uint8Array | ExceptionCode | 'no response' {
    switch (subFunction) {
      case SubFunction.returnQueryData:
        return data;
      case SubFunction.restartCommunications:
        this.#afterwards = () => this.#restart(wordAt(data, 0) !== 0);
        return data;
      case SubFunction.returnDiagnosticRegister:
        return packWords([0]);
      case SubFunction.changeAsciiDelimiter:
        return this.#changeDelimiter(data[0] as number) ? data : ExceptionCode.illegalDataValue;
      case SubFunction.forceListenOnly:
        this.#listenOnly = true;
        this.#enter(Event.listenOnly);
        return 'no response';
      case SubFunction.clearCounters:
        this.#afterwards = () => this.#clearCounters();
        return data;
      case SubFunction.clearOverrunCounter:
        this.#cleared = { ...this.#cleared, overruns: this.#activity.overruns };
        return data;
      default:
        return packWords([this.#count(subFunction)]);
    }
  }

  /** Data of function 12: status, event count, message count, then the events, the newest first. */
  eventLog(): Uint8Array {
    const words = packWords([0, this.#eventCount, this.#count(SubFunction.busMessageCount)]);
    const entries = Math.min(this.#logged, LOG_SIZE);
    const newestFirst = Uint8Array.from(
      { length: entries },
      (_, i) => this.#log[(this.#logged - 1 - i) % LOG_SIZE] as number,
    );
    return concatBytes(words, newestFirst);
  }

  #count(counter: number): number {
    const { messages, errors, overruns } = this.#activity;
    switch (counter) {
      case SubFunction.busMessageCount:
        return (messages - this.#cleared.messages) & BITS_16;
      case SubFunction.busCommunicationErrorCount:
        return (errors - this.#cleared.errors) & BITS_16;
      case SubFunction.busCharacterOverrunCount:
        return (overruns - this.#cleared.overruns) & BITS_16;
      default:
        return this.#own[counter] ?? 0;
    }
  }

  /** False where there is no delimiter, and for one that would make messages unreadable. */
  #changeDelimiter(delimiter: number): boolean {
    if (this.#activity.asciiDelimiter === undefined || !mayDelimit(delimiter)) return false;
    this.#activity.asciiDelimiter = delimiter;
    return true;
  }

  #restart(clearsLog: boolean): void {
    this.#clearCounters();
    if (this.#activity.asciiDelimiter !== undefined) this.#activity.asciiDelimiter = LINE_FEED;
    this.#listenOnly = false;
    if (clearsLog) this.#logged = 0;
    this.#enter(Event.restart);
  }

  #clearCounters(): void {
    this.#cleared = { ...this.#activity };
    this.#own.fill(0);
    this.#eventCount = 0;
  }

  #countException(code: number): void {
    this.#add(SubFunction.busExceptionErrorCount);
    if (code === ExceptionCode.serverDeviceBusy) this.#add(SubFunction.serverBusyCount);
    if (code === NEGATIVE_ACKNOWLEDGE) this.#add(SubFunction.serverNakCount);
  }

  #add(counter: OwnCounter): void {
    this.#own[counter] = (this.#own[counter] ?? 0) + 1;
  }

  #enter(event: number): void {
    this.#log[this.#logged++ % LOG_SIZE] = event;
  }

  #mode(): number {
    return this.#listenOnly ? IN_LISTEN_ONLY : 0;
  }
}

/** True for function 8, sub-function 1, right to the last byte: what a server in listen-only mode still obeys. */
export function isRestart(requestPdu: Uint8Array): boolean {
  if (requestPdu[0] !== FunctionCode.diagnostics) return false;
  const decoded = decodeDiagnostics(requestPdu);
  return (
    decoded.ok &&
    decoded.request.code === FunctionCode.diagnostics &&
    decoded.request.subFunction === SubFunction.restartCommunications
  );
}
