import { ExceptionCode } from '../modbus/protocol/exception-code.js';
import { EXCEPTION_FLAG } from '../modbus/protocol/function-code.js';
import type { Lock, Manners } from './manners.js';

/** A connection to a line. A serial line has none. */
export interface Connection {
  /** When it began, in ms of `performance.now()`. */
  readonly since: number;
  /** How long before that the last connection to the line began, in ms; undefined for the first. */
  readonly afterLast: number | undefined;
  /** How many requests it has brought, with the one that is being answered. */
  requests: number;
}

/** What surrounds a request in time. Times are in ms of `performance.now()`. */
export interface Moment {
  /** When its first byte came, and when its last. */
  readonly startedAt: number;
  readonly receivedAt: number;
  /** When the last byte before it was heard or sent on the line; undefined for the first request. */
  readonly quietSince: number | undefined;
  readonly connection: Connection | undefined;
}

/** The exceptions that lock up a device (Application Protocol V1.1b3, 7). */
const LOCKS: ReadonlyMap<number, Lock> = new Map([
  [ExceptionCode.illegalFunction, 'function'],
  [ExceptionCode.illegalDataAddress, 'address'],
  [ExceptionCode.illegalDataValue, 'value'],
]);

/**
 * The manners of a device that are about time: which requests it does not hear, and which reply is late. One
 * for each start of the device, which begins awake.
 */
export class TimedManners {
  readonly #manners: Manners;
  /** When a request was last there for the device, and how many of them still only wake it. */
  #askedAt: number;
  #wakes = 0;
  /** In ms of `performance.now()`; infinite until the supply is switched. */
  #lockedUntil = Number.NEGATIVE_INFINITY;
  #isFirst = true;
  readonly #deaf = new WeakSet<Connection>();

  /** @param startedAt when the device started, in ms of `performance.now()` */
  constructor(manners: Manners, startedAt: number) {
    this.#manners = manners;
    this.#askedAt = startedAt;
  }

  /** Why the device does not hear a request, or undefined. Call it once for each request, in their order. */
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

  /** A client has connected to a line of the device. */
  connected({ since, afterLast }: Connection): void {
    const quick = this.#manners.locksUp?.on.find((lock) => typeof lock === 'object');
    if (typeof quick !== 'object' || afterLast === undefined || afterLast >= quick.reconnect) return;
    this.#lock(since);
  }

  /** A request was answered with this PDU. @returns by how many ms the reply is late */
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
