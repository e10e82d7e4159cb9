/** A question as a PDU. */
export interface ModelQuestion {
  readonly unitId: number;
  readonly pdu: Uint8Array;
}

/** What a model client can do wrong. Each is off unless it is named. */
export type Mistake =
  /** Takes whatever arrives while it waits for the answer to this request, also what was late for an earlier one. */
  | 'takes late replies'
  | 'no CRC check'
  | 'ignores the transaction identifier'
  | 'ignores the protocol identifier'
  | 'ignores the unit'
  | 'ignores the function'
  | 'ignores the byte count'
  /** Takes what comes in one piece for a whole reply. */
  | 'takes one read for a reply'
  /** Has read 0 when it gets an exception. */
  | 'takes exceptions for zeros'
  /** Never asks again after an exception. */
  | 'stops after an exception'
  /** Asks again at once, without end, when it gets an exception. */
  | 'repeats after exceptions without end'
  /** Never asks again after a request without any reply. */
  | 'stops after an outage'
  /** Sends the next poll in its rhythm, whether or not it still waits for a reply. */
  | 'asks while a reply is pending'
  | 'ignores t3.5'
  /** Never connects again after the connection was closed. */
  | 'never reconnects'
  /** Ends at a reply that it can't read, and never comes back. */
  | 'crashes at a bad reply'
  /** Ends at registers that stand for no value, and never comes back. */
  | 'crashes at no value'
  /** Ends at a reply that it can't read; its supervisor starts it again: a new connection, everything from the beginning. */
  | 'restarts at a bad reply'
  /** The same at an exception. */
  | 'restarts at an exception'
  /** TCP: opens a connection for each request. */
  | 'connects for each request';

/** How a model client behaves. Times in ms. */
export interface Habits {
  readonly questions: readonly ModelQuestion[];
  /**
   * `after`: it rests for a period after each round. `grid`: rounds begin a period apart, as long as it keeps up.
   * `uneven`: it rests for a fifth of a period to three periods. `queue`: each question is put into a queue every period,
   * whatever became of the one before, and the queue is worked off.
   */
  readonly rhythm: 'after' | 'grid' | 'uneven' | 'queue';
  readonly periodMs: number;
  /** The pause between two questions of a round. */
  readonly betweenMs: number;
  /** How long it waits for a reply, from the end of its request. */
  readonly timeoutMs: number;
  /** Each request is given up to this much more, by chance. */
  readonly timeoutSpreadMs: number;
  /** `reply`: a complete reply must be there by the time-out. `first byte`: the rest may come later. */
  readonly timeoutIsFor: 'reply' | 'first byte';
  readonly attempts: number;
  /** The pauses before the second attempt, the third, and so on; 0 for none. */
  readonly pausesMs: readonly number[];
  /** The pause before it asks again after exceptions 5 and 6; undefined if it does not. */
  readonly busyPauseMs: number | undefined;
  /** Each round begins late by up to this, evenly distributed and always the same. */
  readonly jitterMs: number;
  /** Each timer of the client is late by up to this, as on a busy machine. */
  readonly latenessMs: number;
  /** What it does about a complete reply that it can't take: waits for another, or is done with this attempt. */
  readonly atBadReply: 'waits' | 'gives up at once' | 'connects anew';
  /** The time until a program that has ended at a bad reply is back. */
  readonly restartMs: number;
  /** The seed of its random numbers. */
  readonly seed: number;
  /** TCP: closes the connection on a time-out and connects anew for the next request. */
  readonly reconnectsOnTimeout: boolean;
  /** TCP: closes the connection when it has given up a question after all its attempts. */
  readonly reconnectsOnGivingUp: boolean;
  /** TCP: before connecting again. */
  readonly reconnectPauseMs: number;
  /** TCP: a repetition has the transaction identifier of the first attempt. */
  readonly repeatsTransaction: boolean;
  /** Where it writes the first register of the first question after reading it; nowhere with undefined. */
  readonly writesBack: { readonly unitId: number; readonly address: number } | undefined;
  readonly mistakes: readonly Mistake[];
}

export const FAULTLESS: Habits = {
  questions: [{ unitId: 1, pdu: Uint8Array.of(3, 0, 0, 0, 2) }],
  rhythm: 'after',
  periodMs: 200,
  betweenMs: 5,
  timeoutMs: 500,
  timeoutSpreadMs: 0,
  timeoutIsFor: 'reply',
  attempts: 3,
  pausesMs: [],
  busyPauseMs: 100,
  jitterMs: 0,
  latenessMs: 0,
  atBadReply: 'waits',
  restartMs: 1500,
  seed: 1,
  reconnectsOnTimeout: false,
  reconnectsOnGivingUp: true,
  reconnectPauseMs: 100,
  repeatsTransaction: false,
  writesBack: undefined,
  mistakes: [],
};

/** Pauses between attempts. */
export const BACK_OFF = {
  none: (): number[] => [],
  fixed: (ms: number, attempts: number): number[] => Array.from({ length: attempts - 1 }, () => ms),
  doubling: (ms: number, attempts: number): number[] =>
    Array.from({ length: attempts - 1 }, (_, i) => ms * 2 ** i),
} as const;
