import { ExceptionCode } from '../modbus/protocol/exception-code.js';
import { EXCEPTION_FLAG } from '../modbus/protocol/function-code.js';
import type { Lock, Manners } from './manners.js';

/** A connection to a line, as a device sees it. A serial line has no connections. */
export interface Connection {
  /** When the connection began, in ms of `performance.now()`. */
  readonly since: number;
  /**
   * How long before that the previous connection to the line began, in ms; undefined for the first
   * connection.
   */
  readonly afterLast: number | undefined;
  /** How many requests the connection has brought, the request that is being answered included. */
  requests: number;
}

/** The times around a request, in ms of `performance.now()`. */
export interface Moment {
  /** When the first byte of the request came, and when its last byte came. */
  readonly startedAt: number;
  readonly receivedAt: number;
  /** When the last byte before the request was heard or sent on the line; undefined for the first request. */
  readonly quietSince: number | undefined;
  readonly connection: Connection | undefined;
}

/** The exceptions that may lock up a device (Application Protocol V1.1b3, 7). */
const LOCKS: ReadonlyMap<number, Lock> = new Map([
  [ExceptionCode.illegalFunction, 'function'],
  [ExceptionCode.illegalDataAddress, 'address'],
  [ExceptionCode.illegalDataValue, 'value'],
]);

/**
 * The manners of a device that are about time: which requests the device does not hear, and which replies are
 * late. Each start of the device has an object of its own, in which the device begins awake.
 */
export class TimedManners {
  readonly #manners: Manners;
  /** When a request was last there for the device, and how many further requests only wake it. */
  #askedAt: number;
  #wakes = 0;
  /**
   * Until when the device is locked up, in ms of `performance.now()`; infinite until the supply is switched.
   */
  #lockedUntil = Number.NEGATIVE_INFINITY;
  #isFirst = true;
  readonly #deaf = new WeakSet<Connection>();

  /**
   * Begins with a device that is awake.
   * @param startedAt when the device started, in ms of `performance.now()`
   */
  constructor(manners: Manners, startedAt: number) {
    this.#manners = manners;
    this.#askedAt = startedAt;
  }

  /**
   * Returns why the device does not hear a request, or undefined. Call this once for each request, in their
   * order.
   */
  whyUnheard(moment: Moment): string | undefined {
    const before = this.#askedAt;
    this.#askedAt = moment.receivedAt;
    return (
      this.#whyLocked(moment) ??
      this.#whyAsleep(moment, before) ??
      this.#whyTooEarly(moment) ??
      this.#whyJustConnected(moment)
    );
  }

  /** Takes note that a client has connected to a line of the device. */
  connected({ since, afterLast }: Connection): void {
    const quick = this.#manners.locksUp?.on.find((lock) => typeof lock === 'object');
    if (typeof quick !== 'object' || afterLast === undefined || afterLast >= quick.reconnect) return;
    this.#lock(since);
  }

  /** Takes note that a request was answered with this PDU. @returns by how many ms the reply is late */
  answered(response: Uint8Array, { receivedAt, connection }: Moment): number {
    const lock = (response[0] as number) & EXCEPTION_FLAG ? LOCKS.get(response[1] as number) : undefined;
    if (lock !== undefined && this.#manners.locksUp?.on.includes(lock)) this.#lock(receivedAt);
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const { firstReply } = this.#manners;
    if (firstReply === undefined) return 0;
    const { slow, on } = firstReply;
    const isLate = (on !== 'connect' && isFirst) || (on !== 'start' && connection?.requests === 1);
    return isLate ? slow : 0;
  }

  #lock(from: number): void {
    const length = this.#manners.locksUp?.for ?? 0;
    this.#lockedUntil = length === 'power' ? Number.POSITIVE_INFINITY : from + length;
  }

  #whyLocked({ receivedAt }: Moment): string | undefined {
    return receivedAt < this.#lockedUntil ? 'the device has locked up' : undefined;
  }

  #whyAsleep({ receivedAt }: Moment, before: number): string | undefined {
    const { sleeps } = this.#manners;
    if (sleeps === undefined) return undefined;
    if (receivedAt - before > sleeps.after) this.#wakes = sleeps.wakes;
    if (this.#wakes === 0) return undefined;
    this.#wakes--;
    return 'the device was asleep; the request woke it';
  }

  #whyTooEarly({ startedAt, quietSince }: Moment): string | undefined {
    const { pauseBefore } = this.#manners;
    const isEarly =
      pauseBefore !== undefined && quietSince !== undefined && startedAt - quietSince < pauseBefore;
    return isEarly ? `the request began less than ${pauseBefore} ms after the last frame` : undefined;
  }

  #whyJustConnected({ receivedAt, connection }: Moment): string | undefined {
    const { connectPause } = this.#manners;
    if (connectPause === undefined || connection === undefined) return undefined;
    if (receivedAt - connection.since < connectPause.for) {
      if (connectPause.otherwise === 'deaf') this.#deaf.add(connection);
      return `the client connected less than ${connectPause.for} ms before`;
    }
    return this.#deaf.has(connection) ? 'the device is deaf until the connection is closed' : undefined;
  }
}
