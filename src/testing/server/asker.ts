import type { Random } from '../../common/random.js';
import { failure, type Result, success } from '../../common/result.js';
import { type RawChunk, RawConnection, type RawExchange, type RawPiece } from '../../modbus/client/raw.js';
import type { ClientTarget, Wire, WireListener } from '../../modbus/client/wire.js';
import { newBytes, wordAt } from '../../modbus/protocol/bytes.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { FRAMINGS } from '../../modbus/protocol/framings.js';
import { EXCEPTION_FLAG, ExceptionCode } from '../../modbus/protocol/function-code.js';
import { decodeRequest } from '../../modbus/protocol/request.js';
import { t35 } from '../../modbus/protocol/timing.js';
import type { Clock } from '../../modbus/transport/clock.js';
import type { Oddity } from './codes/oddities.js';
import {
  type AskOptions,
  cutChunks,
  type Exchange,
  heardIn,
  isBusy,
  isDecisive,
  isReplied,
  isTransient,
  stateOf,
  unreadable,
} from './exchange.js';
import type { Found } from './found.js';
import { type Asked, hasOtherQuantity, readReply, type ServerAnswer } from './reading.js';
import { Tally } from './tally.js';
import { ReplyWaits } from './waits.js';

/**
 * Ends a check from within any loop, like an aborted signal ends a `fetch` request: the server test was
 * stopped, its time is up, or the check would write where it must not.
 */
export class Ended extends Error {
  readonly why: Found;

  constructor(why: Found) {
    super(why.code);
    this.why = why;
  }
}

/** Turns a rejection with `Ended` into a value; rethrows all other errors. */
export function orWhenEnded<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (error instanceof Ended) return value;
    throw error;
  };
}

/** True for a request that a client may send, including one with a function that the specification lacks. */
function isWellFormed(pdu: Uint8Array): boolean {
  const decoded = decodeRequest(pdu);
  return decoded.ok || (decoded.error === ExceptionCode.illegalFunction && (pdu[0] ?? 0) < EXCEPTION_FLAG);
}

/** How a server test reaches the server. */
export interface Carrier {
  readonly target: ClientTarget;
  readonly clock: Clock;
  /** Replaces the wire in tests. */
  readonly wireTo?: (target: ClientTarget, listener: WireListener) => Wire;
}

/** How long opening a connection may take, in ms. */
const OPEN_TIMEOUT = 3000;
/** After this many echoes, the request is expected before each reply. */
const ECHOES = 2;
/** Delay before a request to a busy server is repeated, in ms, and the maximum number of repetitions. */
export const BUSY_MS = 250;
const BUSY_TRIES = 5;
/** After this many replies with the identifier of an answered request, such replies no longer count as late. */
const AGAIN = 2;
/** How many requests a server may be behind. */
const EARLIER = 8;
/**
 * How long to wait for silence on the wire before a request, in ms: first for the whole pause, then for t3.5,
 * which other masters leave between their frames.
 */
const LONGEST_BUSY = 1000;
/** Maximum number of odd exchanges in the log from a long series of equal reads. */
const MOST_ODD = 1000;

/**
 * Sends requests in the way that the server needs: keeps its pause, strips bytes around its replies, and
 * repeats requests if replies get lost. Each check can therefore judge only its own request.
 */
export class Asker {
  readonly clock: Clock;
  readonly framing: Framing;
  readonly isSerial: boolean;
  readonly log: Exchange[] = [];
  /** The number of exchanges, and of those that are not in the log because nothing was odd. */
  requests = 0;
  usual = 0;
  /** The times of all replies. */
  readonly times = new Tally();
  /** How long to wait for replies. */
  readonly waits: ReplyWaits;
  readonly target: ClientTarget;
  unitId: number;
  /** The silence before each request, in ms, in addition to t3.5. */
  pauseMs: number;
  /** The wait between opening a connection and the first request, in ms. */
  connectPauseMs = 0;
  /** The wait between closing a connection and opening another, in ms. */
  reconnectPauseMs = 0;
  /** Maximum number of times that a request is sent until an answer decides. */
  tries = 2;
  /** True for a server that closes the connection after each reply, so that each request gets its own. */
  isOnePerConnection = false;
  /** The check that sends the requests. */
  check = '';
  /** Why the server could not be reached the last time; undefined if it was reached. */
  unreachable: string | undefined;
  readonly #random: Random;
  readonly #newConnection: (target?: ClientTarget) => RawConnection;
  #connection: RawConnection;
  #isFirst = true;
  /** Number of requests that the connection has carried; undefined if it was never opened. */
  #carried: number | undefined;
  #closedAfter: number | undefined;
  #turnedAt = Number.NEGATIVE_INFINITY;
  /** Number of odd exchanges in the log from long series of equal reads. */
  #odd = 0;
  /** True if the wire was never silent for the pause. */
  #isBusy = false;
  #echoes = 0;
  /** The newest transaction identifiers, including those of earlier connections, and whether each was answered. */
  #earlier: { readonly id: number; readonly isAnswered: boolean }[] = [];
  /** Number of replies with the identifier of a request before the last answered one. */
  #again = 0;
  /** Aborted when nothing more may be sent; the reason is the result. */
  signal: AbortSignal = new AbortController().signal;
  /** Looks at each request before it is sent, and ends a check that must not send it. */
  guard: (unitId: number, pdu: Uint8Array) => void = () => {};

  /** @param timeoutMs how long a reply may take; absent: derived from the replies */
  constructor(
    { target, clock, wireTo }: Carrier,
    unitId: number,
    pauseMs: number,
    random: Random,
    timeoutMs?: number,
  ) {
    this.waits = new ReplyWaits(timeoutMs);
    this.target = target;
    this.clock = clock;
    this.framing = FRAMINGS[target.framing];
    this.isSerial = target.kind === 'serial';
    this.unitId = unitId;
    this.pauseMs = pauseMs;
    this.#random = random;
    this.#newConnection = (other = target) => new RawConnection(other, clock, wireTo);
    this.#connection = this.#newConnection();
  }

  /** t3.5 of the line in ms; 0 on a network. */
  get t35(): number {
    return this.target.kind === 'serial' ? t35(this.target.baudRate) : 0;
  }

  /** How long the reply to a function may take, in ms. */
  timeout(code: number): number {
    return this.waits.timeout(code);
  }

  /** How long to wait for a reply that must not come, in ms. */
  get silence(): number {
    return this.waits.silence;
  }

  get connection(): RawConnection {
    return this.#connection;
  }

  /** Sends a request once. */
  once(pdu: Uint8Array, options: AskOptions = {}): Promise<Exchange> {
    const unitId = options.unitId ?? this.unitId;
    const transactionId =
      this.framing.name === 'socket' ? (options.transactionId ?? 1 + this.#random.below(0xfffe)) : 0;
    return this.#exchange({ transactionId, unitId, pdu }, options);
  }

  /**
   * Sends a request until an answer decides: data, or an exception that does not mean "wait". One silence may
   * be an accident.
   */
  async ask(pdu: Uint8Array, options: AskOptions = {}): Promise<Exchange> {
    const { tries = this.tries } = options;
    for (let i = 1; ; i++) {
      const exchange = await this.once(pdu, options);
      if (isDecisive(exchange)) return exchange;
      const isPatient = isBusy(exchange.answer) && options.tries === undefined;
      if (i >= (isPatient ? BUSY_TRIES : tries)) return exchange;
      if (isPatient) await this.wait(BUSY_MS);
    }
  }

  /** Sends bytes that are not a request, and collects the reply. */
  send(pieces: readonly RawPiece[], options: AskOptions = {}): Promise<Exchange> {
    return this.#exchange(undefined, { ...options, pieces });
  }

  get isStopped(): boolean {
    return this.signal.aborted;
  }

  /** Waits, and collects unsolicited bytes, which become part of the next exchange. */
  async wait(ms: number): Promise<void> {
    await this.pause(ms);
    this.#unlessStopped();
  }

  /** Waits until the time is over or the server test is stopped. */
  pause(ms: number): Promise<void> {
    return this.#unlessAborted((resolve) => this.clock.callAt(this.clock.now() + ms, resolve));
  }

  async #unlessAborted(begin: (resolve: () => void) => unknown): Promise<void> {
    const { signal } = this;
    if (signal.aborted) return;
    let onAbort = (): void => {};
    await new Promise<void>((resolve) => {
      onAbort = resolve;
      signal.addEventListener('abort', onAbort);
      begin(resolve);
    });
    signal.removeEventListener('abort', onAbort);
  }

  #unlessStopped(): void {
    if (this.isStopped) throw new Ended(this.signal.reason as Found);
  }

  /** Opens a connection; a stop aborts this. */
  async #opened(connection: RawConnection): Promise<string | undefined> {
    const close = () => void connection.close();
    this.signal.addEventListener('abort', close);
    const problem = await connection.open(OPEN_TIMEOUT);
    this.signal.removeEventListener('abort', close);
    this.#unlessStopped();
    return problem;
  }

  /** Closes the connection; the next request opens another. */
  async disconnect(): Promise<void> {
    const { lastAt } = this.#connection;
    await this.#connection.close();
    this.closed();
    this.#connection = this.#newConnection();
    this.#carried = undefined;
    // The pause that a server needs applies across connections.
    this.#connection.lastAt = lastAt;
  }

  /** Opens a second connection, or reopens the port with other settings; an error if that fails. */
  async another(target?: ClientTarget): Promise<Result<RawConnection>> {
    await this.#reconnectPause();
    const connection = this.#newConnection(target);
    const problem = await this.#opened(connection);
    this.#turnedAt = this.clock.now();
    // If the check ended here, the connection would stay open.
    if (problem === undefined && this.connectPauseMs > 0) await this.pause(this.connectPauseMs);
    return problem === undefined ? success(connection) : failure(problem);
  }

  /** Sends a request on a connection from `another` until an answer decides. */
  async askOn(connection: RawConnection, pdu: Uint8Array): Promise<Exchange> {
    for (let i = 1; ; i++) {
      const exchange = await this.#onceOn(connection, pdu);
      const { answer } = exchange;
      if ((answer.kind !== 'silent' && !isTransient(answer)) || i >= this.tries) return exchange;
      await this.wait(this.pauseMs);
    }
  }

  async #onceOn(connection: RawConnection, pdu: Uint8Array): Promise<Exchange> {
    this.guard(this.unitId, pdu);
    this.#unlessStopped();
    const asked = { transactionId: 1 + this.#random.below(0xfffe), unitId: this.unitId, pdu };
    const pieces = [{ bytes: this.framing.encode(asked) }];
    if (!connection.isOpen) {
      const now = this.clock.now();
      const gone = { kind: 'closed', reason: 'closed' } as const;
      return this.#kept(
        asked,
        { pieces },
        { startedAt: now, sentAt: now, chunks: [], early: 0 },
        [],
        gone,
        [],
      );
    }
    const raw = await connection.exchange(
      pieces,
      {
        timeout: this.timeout(pdu[0] ?? 0),
        look: (heard) => stateOf(readReply(this.framing, asked, heard)),
      },
      this.signal,
    );
    this.#unlessStopped();
    const { answer, oddities } = readReply(this.framing, asked, heardIn(raw));
    const isLost = answer.kind === 'silent' && raw.lost !== undefined;
    // Not plain: the server's behaviour on a second connection says nothing about the pause or the losses of
    // the first.
    return this.#kept(
      asked,
      { pieces },
      raw,
      [],
      isLost ? { kind: 'closed', reason: raw.lost ?? '' } : answer,
      oddities,
    );
  }

  /**
   * Opens the port or the connection.
   * @returns why that failed, as one sentence
   */
  async open(): Promise<string | undefined> {
    const connection = this.#connection;
    if (connection.isOpen) return undefined;
    await this.#reconnectPause();
    this.unreachable = await this.#opened(connection);
    if (this.unreachable !== undefined) return this.unreachable;
    this.#closedAfter = this.#carried;
    this.#carried = 0;
    this.#isFirst = true;
    this.#turnedAt = this.clock.now();
    if (this.connectPauseMs > 0) await this.wait(this.connectPauseMs);
    return undefined;
  }

  /** Records that a connection was closed, for the wait before the next one. */
  closed(): void {
    this.#turnedAt = this.clock.now();
  }

  async #reconnectPause(): Promise<void> {
    const at = this.#turnedAt + this.reconnectPauseMs;
    if (at > this.clock.now()) await this.wait(at - this.clock.now());
  }

  async #exchange(asked: Asked | undefined, options: AskOptions): Promise<Exchange> {
    if (asked) this.guard(asked.unitId, asked.pdu);
    this.#unlessStopped();
    const problem = await this.open();
    const now = this.clock.now();
    if (problem !== undefined) {
      const answer = { kind: 'closed', reason: problem } as const;
      return this.#kept(
        asked,
        options,
        { startedAt: now, sentAt: now, chunks: [], early: 0 },
        [],
        answer,
        [],
      );
    }
    const connection = this.#connection;
    await this.#silence(options.pauseMs ?? this.pauseMs);
    const unsolicited = connection.takeUnsolicited();
    const pieces = options.pieces ?? [{ bytes: asked ? this.framing.encode(asked) : newBytes(0) }];
    const whole = asked && {
      ...asked,
      earlier: this.#awaited(),
      hasEcho: this.#echoes >= ECHOES,
    };
    const timeout =
      options.timeout ?? (options.isExpected ? this.waits.expected : this.timeout(asked?.pdu[0] ?? 0));
    const raw = await connection.exchange(
      pieces,
      {
        timeout,
        look: (heard) =>
          options.look?.(heard) ?? (whole ? stateOf(readReply(this.framing, whole, heard)) : 'more'),
      },
      this.signal,
    );
    const heard = heardIn({ chunks: raw.chunks.slice(raw.early) });
    const reading = whole ? readReply(this.framing, whole, heard) : unreadable(heard);
    const isLost = reading.answer.kind === 'silent' && raw.lost !== undefined;
    const answer: ServerAnswer = isLost ? { kind: 'closed', reason: raw.lost ?? '' } : reading.answer;
    if (answer.kind === 'silent' && options.timeout === undefined && !options.isExpected) this.waits.silent();
    if (reading.oddities.includes('echo')) this.#echoes++;
    // Identifiers chosen by a check are the ones that servers without their own counter use.
    const { transactionId: id } = asked ?? {};
    const again = this.#whoseAgain(heard, reading.oddities);
    if (again === 'older') this.#again++;
    if (asked && id !== undefined && options.transactionId === undefined)
      this.#earlier = [...this.#earlier, { id, isAnswered: isReplied(answer) }].slice(-EARLIER);
    const exchange = this.#kept(
      asked,
      { ...options, pieces, isPlain: options.pieces === undefined },
      raw,
      unsolicited,
      answer,
      reading.oddities,
    );
    this.#isFirst = false;
    this.#closedAfter = undefined;
    this.#carried = (this.#carried ?? 0) + 1;
    // A server may stay mute on a connection, or take the rest of a malformed request for the next one.
    const isOver =
      (!isReplied(answer) && again === undefined) || !exchange.isPlain || this.isOnePerConnection;
    if (!this.isSerial && !options.keepsOpen && asked && isOver) await this.disconnect();
    this.#unlessStopped();
    return exchange;
  }

  /**
   * The identifiers of requests that may still get replies. An answered request may get a second reply; if
   * that happens repeatedly, the server does not copy identifiers, and is not late.
   */
  #awaited(): ReadonlySet<number> {
    const isAgain = this.#again >= AGAIN;
    return new Set(this.#earlier.flatMap(({ id, isAnswered }) => (isAgain && isAnswered ? [] : id)));
  }

  /** Whether a reply has the identifier of a request that was already answered: the last one, or an older one. */
  #whoseAgain(heard: Uint8Array, oddities: readonly Oddity[]): 'last' | 'older' | undefined {
    if (!oddities.includes('earlier-transaction') || hasOtherQuantity({ oddities })) return undefined;
    const at = this.#earlier.findIndex(({ id, isAnswered }) => isAnswered && id === wordAt(heard, 0));
    return at < 0 ? undefined : at === this.#earlier.length - 1 ? 'last' : 'older';
  }

  #kept(
    asked: Asked | undefined,
    {
      pieces = [],
      isExpected = false,
      unitId = this.unitId,
      isPlain = false,
      isOneOfMany = false,
    }: AskOptions & { isPlain?: boolean },
    { startedAt, sentAt, chunks: heard, early }: Omit<RawExchange, 'endedAt' | 'lost'>,
    unsolicited: readonly RawChunk[],
    answer: ServerAnswer,
    oddities: readonly Oddity[],
  ): Exchange {
    const isReply = isReplied(answer);
    // Bytes before the last piece are not part of the reply to it.
    const chunks = isReply ? heard.slice(early) : cutChunks(heard);
    const [first] = chunks;
    const exchange: Exchange = {
      number: ++this.requests,
      check: this.check,
      unitId: asked?.unitId ?? unitId,
      pdu: asked?.pdu,
      sent: pieces,
      unsolicited: cutChunks(unsolicited),
      chunks,
      startedAt,
      sentAt,
      answer,
      oddities,
      ms: isReply && first ? first.at - sentAt : undefined,
      isExpected,
      isFirst: this.#isFirst,
      closedAfter: this.#closedAfter,
      isPlain: isPlain && asked !== undefined && isWellFormed(asked.pdu),
    };
    if (exchange.ms !== undefined) {
      this.waits.add(asked?.pdu[0] ?? 0, exchange.ms);
      this.times.add(exchange.ms);
    }
    const isUsual =
      isOneOfMany &&
      answer.kind === 'data' &&
      oddities.length + unsolicited.length === 0 &&
      exchange.closedAfter === undefined;
    if (isUsual || (isOneOfMany && ++this.#odd > MOST_ODD)) this.usual++;
    else this.log.push(exchange);
    return exchange;
  }

  /**
   * Waits until the wire has been silent for the pause and, on a serial line, for t3.5. On a bus kept busy by
   * others, t3.5 has to be enough; after that it no longer waits.
   */
  async #silence(pauseMs: number): Promise<void> {
    const from = this.clock.now();
    const isSilent = async (ms: number, until: number): Promise<boolean> => {
      for (;;) {
        const now = this.clock.now();
        const at = this.#connection.lastAt + ms + this.t35;
        if (!(at > now)) return true;
        if (now >= until) return false;
        await this.wait(Math.min(at, until) - now);
      }
    };
    const until = from + (this.#isBusy ? 0 : LONGEST_BUSY) + pauseMs + this.t35;
    if (await isSilent(pauseMs, until)) return;
    this.#isBusy = true;
    await isSilent(0, until + LONGEST_BUSY);
  }
}
