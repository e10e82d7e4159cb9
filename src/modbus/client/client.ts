import { newBytes } from '../protocol/bytes.js';
import type { Framing } from '../protocol/framing.js';
import { FRAMINGS } from '../protocol/framings.js';
import { BROADCAST } from '../protocol/rtu.js';
import { type Clock, systemClock } from '../transport/clock.js';
import { RawConnection, type RawPiece, type RawWait } from './raw.js';
import { type Reply, ReplySearch } from './reply-search.js';
import { type ClientTarget, newWire, type Wire, type WireListener } from './wire.js';

export interface ClientRequest {
  readonly unitId: number;
  /** The request PDU, 1 to 253 bytes. */
  readonly pdu: Uint8Array;
  /**
   * How long the reply may take to begin, in ms from the end of the request. Opening a connection may take
   * just as long.
   */
  readonly timeout: number;
}

/** How a request ended. Times are in ms from the end of the request. */
export type RequestOutcome =
  | { readonly kind: 'answered'; readonly pdu: Uint8Array; readonly adu: Uint8Array; readonly ms: number }
  /** No reply came in time. `heard` contains the bytes that came and were not a reply. */
  | { readonly kind: 'timeout'; readonly heard: Uint8Array; readonly ms: number }
  | Failed;

/**
 * The request could not be sent, or its reply could not arrive. The reason is one sentence that names the
 * port or the host.
 */
interface Failed {
  readonly kind: 'failed';
  readonly reason: string;
}

/** The outcome of a raw exchange. Times are in ms from the end of the last byte sent. */
export type RawOutcome =
  | {
      readonly kind: 'heard';
      /** The bytes of each read, and when they were read; negative if bytes were still being sent. */
      readonly chunks: readonly { readonly bytes: Uint8Array; readonly ms: number }[];
      /** When the exchange ended. */
      readonly ms: number;
      /** Why the port or the connection is gone, as one sentence; undefined while it is open. */
      readonly lost: string | undefined;
    }
  | Failed;

/** A Modbus client ("master"). */
export interface ModbusClient {
  /**
   * Sends a request once, after all earlier requests have ended; on a serial line after a silence of t3.5. A
   * broadcast on a serial line gets no reply: it ends as a timeout after the turnaround delay.
   */
  ask(request: ClientRequest): Promise<RequestOutcome>;
  /**
   * Sends bytes unchanged, each piece after its pause, and collects what arrives until `wait` ends the
   * exchange. Nothing is added, and nothing is interpreted as a reply. Queues with the requests, on the same
   * port or connection.
   */
  raw(pieces: readonly RawPiece[], wait: RawWait): Promise<RawOutcome>;
  /** Fails all requests, and closes the port or the connection. The next request opens it again. */
  close(): Promise<void>;
  /** How many requests are waiting or in progress. */
  readonly pending: number;
}

/**
 * Creates a client. It opens nothing: the first request does, and each request reopens what was lost.
 * @param wireTo lets tests supply their own wire
 */
export function newClient(
  target: ClientTarget,
  clock: Clock = systemClock,
  wireTo: (target: ClientTarget, listener: WireListener) => Wire = newWire,
): ModbusClient {
  return new QueuedClient(target, clock, wireTo);
}

/**
 * The turnaround delay after a broadcast, which lets servers execute it (Serial Line V1.02, 2.4.1: 100 to 200
 * ms).
 */
const TURNAROUND_MS = 100;

/** A request or a raw exchange that is waiting for its turn or in progress. */
interface Queued {
  /** Performs it. @returns a function that reports the outcome */
  readonly carryOut: () => Promise<() => void>;
  readonly fail: (failed: Failed) => void;
}

/** The request/reply exchange in progress. */
interface OpenExchange {
  readonly search: ReplySearch;
  readonly sentAt: number;
  readonly end: (outcome: RequestOutcome) => void;
  /**
   * Sets the timer to the wire's gap after the last byte. When it fires, the client checks whether the reply
   * is complete or too late.
   */
  readonly wait: () => void;
  lastAt: number;
}

class QueuedClient implements ModbusClient, WireListener {
  readonly #framing: Framing;
  readonly #clock: Clock;
  readonly #isSerial: boolean;
  readonly #wire: Wire;
  readonly #target: ClientTarget;
  readonly #queue: Queued[] = [];
  #isWorking = false;
  #exchange: OpenExchange | undefined;
  /** The connection of raw exchanges, which receives what arrives during one. */
  #raw: RawConnection | undefined;
  #transactionId = 0;
  #echoes = false;
  /** When the wire was last in use, in ms of the clock. */
  #busyUntil = Number.NEGATIVE_INFINITY;
  /** How many times the client was closed. A request stops if this number has changed. */
  #closings = 0;

  constructor(
    target: ClientTarget,
    clock: Clock,
    wireTo: (target: ClientTarget, listener: WireListener) => Wire,
  ) {
    this.#target = target;
    this.#framing = FRAMINGS[target.framing];
    this.#clock = clock;
    this.#isSerial = target.kind === 'serial';
    this.#wire = wireTo(target, this);
  }

  get pending(): number {
    return this.#queue.length;
  }

  ask(request: ClientRequest): Promise<RequestOutcome> {
    return this.#inTurn(request.timeout, async () => {
      const outcome = await this.#send(request);
      // A stream has no transaction identifiers, so a late reply would be taken for the reply to the next
      // request.
      const isStream = !this.#isSerial && this.#framing.name !== 'socket';
      if (outcome.kind === 'timeout' && isStream) await this.#wire.close();
      return outcome;
    });
  }

  raw(pieces: readonly RawPiece[], wait: RawWait): Promise<RawOutcome> {
    return this.#inTurn(wait.timeout, async () => {
      const { times } = this.#wire;
      const raw = new RawConnection(this.#target, this.#clock, () => ({
        ...{ times, open: async () => undefined, close: async () => {} },
        write: (bytes) => this.#wire.write(bytes),
      }));
      this.#raw = raw;
      await raw.open(wait.timeout);
      const { chunks, sentAt, endedAt, lost } = await raw.exchange(pieces, wait);
      this.#raw = undefined;
      const heard = chunks.map(({ bytes, at }) => ({ bytes, ms: at - sentAt }));
      return { kind: 'heard', chunks: heard, ms: endedAt - sentAt, lost };
    });
  }

  #inTurn<Outcome>(timeout: number, send: () => Promise<Outcome>): Promise<Outcome | Failed> {
    return new Promise((resolve) => {
      this.#queue.push({
        carryOut: async () => {
          const outcome = await this.#carryOut(timeout, send);
          return () => resolve(outcome);
        },
        fail: resolve,
      });
      if (!this.#isWorking) void this.#work();
    });
  }

  async close(): Promise<void> {
    this.#closings++;
    const failed = { kind: 'failed', reason: 'the client was closed' } as const;
    this.#exchange?.end(failed);
    this.#raw?.lost(failed.reason);
    for (const { fail } of this.#queue.splice(0)) fail(failed);
    await this.#wire.close();
  }

  heard(bytes: Uint8Array): void {
    this.#busyUntil = this.#clock.now();
    this.#raw?.heard(bytes);
    const exchange = this.#exchange;
    if (!exchange) return;
    exchange.lastAt = this.#busyUntil;
    this.#found(exchange, exchange.search.push(bytes));
    if (this.#exchange === exchange) exchange.wait();
  }

  lost(reason: string): void {
    this.#raw?.lost(reason);
    this.#exchange?.end({ kind: 'failed', reason });
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    for (let first = this.#queue[0]; first; first = this.#queue[0]) {
      const tell = await first.carryOut();
      // If the client was closed in the meantime, all requests have already failed.
      if (this.#queue[0] !== first) continue;
      this.#queue.shift();
      tell();
    }
    this.#isWorking = false;
  }

  /** Opens the wire, waits until it is free, and sends. */
  async #carryOut<Outcome>(timeout: number, send: () => Promise<Outcome>): Promise<Outcome | Failed> {
    const closings = this.#closings;
    const closed = { kind: 'failed', reason: 'the client was closed' } as const;
    const reason = await this.#wire.open(timeout);
    if (this.#closings !== closings) {
      await this.#wire.close();
      return closed;
    }
    if (reason !== undefined) return { kind: 'failed', reason };
    await this.#silence();
    if (this.#closings !== closings) return closed;
    const outcome = await send();
    this.#busyUntil = this.#clock.now();
    return outcome;
  }

  /** Waits until the wire has been silent for t3.5. Bytes that arrive during the wait are ignored. */
  async #silence(): Promise<void> {
    const { t35 } = this.#wire.times;
    const free = () => (this.#isSerial ? this.#busyUntil + t35 : this.#clock.now());
    while (free() > this.#clock.now())
      await new Promise<void>((resolve) => this.#clock.callAt(free(), resolve));
  }

  #send({ unitId, pdu, timeout }: ClientRequest): Promise<RequestOutcome> {
    const isSocket = this.#framing.name === 'socket';
    if (isSocket) this.#transactionId = (this.#transactionId + 1) & 0xffff;
    const asked = { transactionId: isSocket ? this.#transactionId : 0, unitId, pdu };
    const adu = this.#framing.encode(asked);
    const mayEcho = this.#isSerial && (this.#echoes ? 'certainly' : true);
    const { times } = this.#wire;
    return new Promise((resolve) => {
      let callOff = (): void => {};
      const end = (outcome: RequestOutcome): void => {
        if (this.#exchange?.end !== end) return;
        callOff();
        this.#exchange = undefined;
        resolve(outcome);
      };
      const sentAt = this.#clock.now() + adu.length * times.character;
      const isBroadcast = unitId === BROADCAST && this.#isSerial;
      const late = sentAt + (isBroadcast ? Math.min(timeout, TURNAROUND_MS) : timeout);
      // A reply that began in time may continue. Bytes before a silence that are not a reply do not count.
      const look = (): void => {
        const now = this.#clock.now();
        const isSilent = now - exchange.lastAt >= times.gap;
        const { search } = exchange;
        if (isSilent && search.heard.length > 0) this.#found(exchange, search.push(newBytes(0), true));
        if (this.#exchange !== exchange) return;
        if (isSilent && now >= late) end({ kind: 'timeout', heard: search.heard, ms: now - sentAt });
        else waitUntil(isSilent ? late : exchange.lastAt + times.gap);
      };
      const waitUntil = (at: number): void => {
        callOff();
        callOff = this.#clock.callAfter(Math.max(1, at - this.#clock.now()), look);
      };
      const exchange: OpenExchange = {
        search: new ReplySearch(this.#framing, asked, mayEcho),
        sentAt,
        end,
        wait: () => waitUntil(exchange.lastAt + times.gap),
        lastAt: Number.NEGATIVE_INFINITY,
      };
      this.#exchange = exchange;
      const lost = this.#wire.write(adu);
      if (lost !== undefined) {
        end({ kind: 'failed', reason: lost });
        return;
      }
      waitUntil(late);
    });
  }

  #found(exchange: OpenExchange, reply: Reply | undefined): void {
    if (exchange.search.isEchoed) this.#echoes = true;
    if (!reply) return;
    const ms = Math.max(0, this.#clock.now() - exchange.sentAt);
    exchange.end({ kind: 'answered', ...reply, ms });
  }
}
