import { LINE_FEED } from '../modbus/protocol/ascii.js';
import { concatBytes, packWords, wordAt } from '../modbus/protocol/bytes.js';
import type { Framing } from '../modbus/protocol/framing.js';
import {
  EXCEPTION_FLAG,
  ExceptionCode,
  FunctionCode,
  SubFunction,
} from '../modbus/protocol/function-code.js';
import { functionOf } from '../modbus/protocol/function-table.js';
import { decodeRequest } from '../modbus/protocol/request.js';

/**
 * The code of a NAK, which is counted (6.8) and logged (6.10), although it is not in the list of exception
 * codes (7).
 */
const NEGATIVE_ACKNOWLEDGE = 7;

/** The bit in a send event for each exception: read, abort, busy or NAK. Other exceptions set no bit. */
const EXCEPTION_SENT: ReadonlyMap<number, number> = new Map([
  [ExceptionCode.illegalFunction, 0x01],
  [ExceptionCode.illegalDataAddress, 0x01],
  [ExceptionCode.illegalDataValue, 0x01],
  [ExceptionCode.serverDeviceFailure, 0x02],
  [ExceptionCode.acknowledge, 0x04],
  [ExceptionCode.serverDeviceBusy, 0x04],
  [NEGATIVE_ACKNOWLEDGE, 0x08],
]);

/**
 * The counts of all traffic on a line since the line was created, including traffic for other units. Counts
 * never decrease.
 */
export interface Activity {
  /** How many valid frames were received. */
  messages: number;
  /** How many bursts of bytes were not valid frames. */
  errors: number;
  /** How many characters the UART lost. */
  overruns: number;
}

/** Counters of one server. The numbers are the sub-functions of function 8 that return them. */
type OwnCounter =
  | typeof SubFunction.returnBusExceptionErrorCount
  | typeof SubFunction.returnServerMessageCount
  | typeof SubFunction.returnServerNoResponseCount
  | typeof SubFunction.returnServerNakCount
  | typeof SubFunction.returnServerBusyCount;

const BITS_16 = 0xffff;

/**
 * The communication state of one server on its line: counters, event log, listen-only mode (Application
 * Protocol V1.1b3, 6.8 to 6.10). Counting follows Modbus over Serial Line V1.02, 2.7.
 */
export class Diagnostics {
  /** The line's framing, set before each request. Function 8/3 and a restart change it after their response. */
  framing: Framing | undefined;
  readonly #activity: Activity;
  /** The line's activity when this server's counters were cleared. */
  #cleared: Activity;
  /** The line's counts at this server's last request. */
  #lastErrors: number;
  #lastOverruns: number;
  /** The counters by sub-function. They wrap at 16 bits. */
  readonly #own = new Uint16Array(SubFunction.clearOverrunCounterAndFlag);
  #eventCount = 0;
  readonly #log = new EventLog();
  #listenOnly = false;
  /** Called after the current request has been answered: a restart follows its own response (6.8). */
  #afterwards: (() => void) | undefined;

  constructor(activity: Activity) {
    this.#activity = activity;
    this.#cleared = { ...activity };
    this.#lastErrors = activity.errors;
    this.#lastOverruns = activity.overruns;
  }

  /** True in listen-only mode, in which a server obeys only a restart request and sends no replies. */
  get listenOnly(): boolean {
    return this.#listenOnly;
  }

  /** The number of successful requests since the last restart, except those that fetch the events. */
  get eventCount(): number {
    return this.#eventCount;
  }

  /**
   * Counts and logs a request to this server. Call this before the request is processed. In listen-only mode
   * messages are "monitored, but no actions will be taken", so the request counts as a message without a
   * response.
   */
  received(broadcast: boolean): void {
    this.#add(
      this.#listenOnly ? SubFunction.returnServerNoResponseCount : SubFunction.returnServerMessageCount,
    );
    const { errors, overruns } = this.#activity;
    this.#log.received({
      broadcast,
      error: errors > this.#lastErrors,
      overrun: overruns > this.#lastOverruns,
      listenOnly: this.#listenOnly,
    });
    this.#lastErrors = errors;
    this.#lastOverruns = overruns;
  }

  /**
   * Counts and logs the response to a request, if there is one. A response that is not sent, such as to a
   * broadcast, counts as no response. An exception counts as an error even then (Modbus over Serial Line
   * V1.02, counter 3).
   */
  processed(responsePdu: Uint8Array | undefined, isSent: boolean): void {
    const functionCode = responsePdu?.[0] ?? 0;
    const exception = responsePdu?.[1] ?? 0;
    const failed = (functionCode & EXCEPTION_FLAG) !== 0;
    if (!isSent) this.#add(SubFunction.returnServerNoResponseCount);
    if (failed) this.#countException(exception);
    else if (!functionOf(functionCode)?.asksForEvents) this.#eventCount = (this.#eventCount + 1) & BITS_16;
    this.#log.sent(failed && isSent ? (EXCEPTION_SENT.get(exception) ?? 0) : 0, this.#listenOnly);
    this.#afterwards?.();
    this.#afterwards = undefined;
  }

  /** Counts a request that is neither executed nor answered, such as a broadcast read. */
  ignored(): void {
    this.#add(SubFunction.returnServerNoResponseCount);
    this.#log.sent(0, this.#listenOnly);
  }

  /** Executes function 8 for a valid request. Returns the data of the response, an exception code, or no response. */
  execute(subFunction: number, data: Uint8Array): Uint8Array | ExceptionCode | 'no response' {
    switch (subFunction) {
      case SubFunction.returnQueryData:
        return data;
      case SubFunction.restartCommunicationsOption:
        this.#afterwards = () => this.#restart(wordAt(data, 0) !== 0);
        return data;
      case SubFunction.returnDiagnosticRegister:
        return packWords([0]);
      case SubFunction.changeAsciiInputDelimiter:
        return this.#changeDelimiter(data[0] as number) ? data : ExceptionCode.illegalDataValue;
      case SubFunction.forceListenOnlyMode:
        this.#listenOnly = true;
        this.#log.becameListenOnly();
        return 'no response';
      case SubFunction.clearCountersAndDiagnosticRegister:
        this.#afterwards = () => this.#clearCounters();
        return data;
      case SubFunction.clearOverrunCounterAndFlag:
        this.#cleared = { ...this.#cleared, overruns: this.#activity.overruns };
        return data;
      default:
        return packWords([this.#count(subFunction)]);
    }
  }

  /**
   * Returns the data of function 12: status, event count, message count, then the events, the newest first.
   */
  eventLog(): Uint8Array {
    const words = packWords([0, this.#eventCount, this.#count(SubFunction.returnBusMessageCount)]);
    return concatBytes(words, this.#log.newestFirst);
  }

  #count(counter: number): number {
    const { messages, errors, overruns } = this.#activity;
    switch (counter) {
      case SubFunction.returnBusMessageCount:
        return (messages - this.#cleared.messages) & BITS_16;
      case SubFunction.returnBusCommunicationErrorCount:
        return (errors - this.#cleared.errors) & BITS_16;
      case SubFunction.returnBusCharacterOverrunCount:
        return (overruns - this.#cleared.overruns) & BITS_16;
      default:
        return this.#own[counter] ?? 0;
    }
  }

  /**
   * Changes the delimiter. Returns false if the framing has no delimiter, or if the new one would make
   * messages unreadable.
   */
  #changeDelimiter(delimiter: number): boolean {
    const changed = this.framing?.withDelimiter?.(delimiter);
    this.framing = changed ?? this.framing;
    return changed !== undefined;
  }

  #restart(clearsLog: boolean): void {
    this.#clearCounters();
    this.#changeDelimiter(LINE_FEED);
    this.#listenOnly = false;
    if (clearsLog) this.#log.clear();
    this.#log.restarted();
  }

  #clearCounters(): void {
    this.#cleared = { ...this.#activity };
    this.#own.fill(0);
    this.#eventCount = 0;
  }

  #countException(code: number): void {
    this.#add(SubFunction.returnBusExceptionErrorCount);
    if (code === ExceptionCode.serverDeviceBusy) this.#add(SubFunction.returnServerBusyCount);
    if (code === NEGATIVE_ACKNOWLEDGE) this.#add(SubFunction.returnServerNakCount);
  }

  #add(counter: OwnCounter): void {
    this.#own[counter] = (this.#own[counter] ?? 0) + 1;
  }
}

/**
 * Reports whether a request is a valid restart request (function 8, sub-function 1), the only request that a
 * server in listen-only mode obeys.
 */
export function isRestart(requestPdu: Uint8Array): boolean {
  const decoded = decodeRequest(requestPdu);
  return (
    decoded.ok &&
    decoded.value.code === FunctionCode.diagnostics &&
    decoded.value.subFunction === SubFunction.restartCommunicationsOption
  );
}

/** The entries of the log, one byte each (Application Protocol V1.1b3, 6.10). */
const Entry = {
  restart: 0x00,
  listenOnly: 0x04,
  sent: 0x40,
  received: 0x80,
} as const;

const RECEIVED_BROADCAST = 0x40;
const RECEIVED_OVERRUN = 0x10;
const RECEIVED_ERROR = 0x02;
/** The bit for listen-only mode, in both kinds of entries. */
const IN_LISTEN_ONLY = 0x20;

const SIZE = 64;

interface ReceivedEvent {
  readonly broadcast: boolean;
  /** True if bytes that were not a valid frame arrived since the previous request. */
  readonly error: boolean;
  /** True if characters were lost since the previous request. */
  readonly overrun: boolean;
  readonly listenOnly: boolean;
}

/** The last 64 communication events of a server. */
class EventLog {
  /** A ring buffer. The newest entry is the one before index `#entered`. */
  readonly #entries = new Uint8Array(SIZE);
  #entered = 0;

  received({ broadcast, error, overrun, listenOnly }: ReceivedEvent): void {
    this.#enter(
      Entry.received |
        (broadcast ? RECEIVED_BROADCAST : 0) |
        (overrun ? RECEIVED_OVERRUN : 0) |
        (error ? RECEIVED_ERROR : 0) |
        mode(listenOnly),
    );
  }

  /**
   * Logs the end of a request, even if nothing was sent.
   * @param exception the bit of the exception sent, or 0
   */
  sent(exception: number, listenOnly: boolean): void {
    this.#enter(Entry.sent | exception | mode(listenOnly));
  }

  restarted(): void {
    this.#enter(Entry.restart);
  }

  becameListenOnly(): void {
    this.#enter(Entry.listenOnly);
  }

  clear(): void {
    this.#entered = 0;
  }

  get newestFirst(): Uint8Array {
    return Uint8Array.from(
      { length: Math.min(this.#entered, SIZE) },
      (_, i) => this.#entries[(this.#entered - 1 - i) % SIZE] as number,
    );
  }

  #enter(entry: number): void {
    this.#entries[this.#entered++ % SIZE] = entry;
  }
}

function mode(listenOnly: boolean): number {
  return listenOnly ? IN_LISTEN_ONLY : 0;
}
