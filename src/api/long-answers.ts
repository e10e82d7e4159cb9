import { Readable } from 'node:stream';
import { jsonPieces } from './json-pieces.js';

/** The outside inputs of `LongAnswers`, which tests replace. */
export interface Pace {
  /** Whether a slice may be made in this turn, whatever else it has done. */
  readonly hasRoom: boolean;
  /** Resolves in the turn of the next slice. */
  take(): Promise<void>;
  /** In ms. */
  now(): number;
}

/** The part of Fastify's reply that sends answers, whatever its route declares. A sent reply can be awaited. */
interface TypedReply {
  type(contentType: string): {
    send(payload: never): { then(sent: () => void, failed: (error: Error) => void): void };
  };
}

/**
 * The longest time in ms to work on an answer before the event loop, which also serves the lines, gets a turn. With 2 ms,
 * half of the replies on a serial line were 1.5 ms late beside a download, with 0.5 ms they are 0.5 ms late, and the download
 * is as fast.
 */
const SLICE_MS = 0.5;

/**
 * Answers longer than this many characters are made only as fast as the client reads them, in pieces of about this
 * size.
 */
const WHOLE_LENGTH = 64 * 1024;

/**
 * Sends answers that may be long. They don't stall the lines, and clients that don't read them don't fill the memory.
 */
export class LongAnswers {
  readonly #pace: Pace;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /**
   * Sends `answer` as JSON. Iterable members are written as lists, one element at a time, so a generator makes each
   * element only when it is needed. A generator that searches for a long time yields undefined, which is no element,
   * so that the lines get their turn. A member that is a function is called when the members before it are written.
   * A member with a generator of its own is written in the same way.
   */
  send(reply: TypedReply, answer: object): Promise<void> | undefined {
    return this.sendText(reply, JSON_TYPE, jsonPieces(answer));
  }

  /**
   * Sends text that is made piece by piece. A piece may be empty: it only says that time has passed. Short text for
   * which the turn has room is sent before this returns; no promise is made for it.
   */
  sendText(reply: TypedReply, contentType: string, pieces: Iterable<string>): Promise<void> | undefined {
    const slices = new Slices(pieces, this.#pace);
    const text = this.#pace.hasRoom ? slices.next().join('') : '';
    if (!slices.isDone || text.length > WHOLE_LENGTH)
      return this.#sendSlices(reply, contentType, text, slices);
    reply.type(contentType).send(text as never);
    return undefined;
  }

  async #sendSlices(
    reply: TypedReply,
    contentType: string,
    begun: string,
    slices: Slices<string>,
  ): Promise<void> {
    let text = begun;
    while (text.length <= WHOLE_LENGTH && !slices.isDone) text += (await slices.nextTurn()).join('');
    const payload = text.length > WHOLE_LENGTH ? Readable.from(resumed(text, slices)) : text;
    await reply.type(contentType).send(payload as never);
  }

  /** Resolves in a turn of the event loop that no other work of the REST interface has. */
  turn(): Promise<void> {
    return this.#pace.take();
  }

  /** Does long work in slices, each in a turn of its own, and has its result. The work yields when it can pause. */
  async work<Result>(steps: Generator<unknown, Result>): Promise<Result> {
    let startedAt = this.#pace.now();
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (this.#pace.now() - startedAt < SLICE_MS) continue;
      await this.#pace.take();
      startedAt = this.#pace.now();
    }
  }

  /**
   * Sends bytes as fast as the client reads them. Each round has pieces that are made one at a time, when they are
   * needed; between two rounds, nothing is done.
   */
  async sendBytes(
    reply: TypedReply,
    contentType: string,
    rounds: AsyncIterable<Iterable<Uint8Array>>,
  ): Promise<void> {
    await reply.type(contentType).send(Readable.from(byteSlices(rounds, this.#pace)) as never);
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Pieces that are collected in slices. Each slice is made without a pause, for at most `SLICE_MS` plus the time of one
 * piece.
 */
class Slices<Piece extends { readonly length: number }> {
  readonly #pieces: Iterator<Piece>;
  readonly #pace: Pace;
  isDone = false;

  constructor(pieces: Iterable<Piece>, pace: Pace) {
    this.#pieces = pieces[Symbol.iterator]();
    this.#pace = pace;
  }

  /** Makes the next slice now. */
  next(): Piece[] {
    const startedAt = this.#pace.now();
    const slice: Piece[] = [];
    let length = 0;
    do {
      const { done, value } = this.#pieces.next();
      if (done) {
        this.isDone = true;
        break;
      }
      slice.push(value);
      length += value.length;
    } while (length < WHOLE_LENGTH && this.#pace.now() - startedAt < SLICE_MS);
    return slice;
  }

  /** Makes the next slice in a turn of its own. */
  async nextTurn(): Promise<Piece[]> {
    await this.#pace.take();
    return this.next();
  }

  /** Says that no more slices are wanted. */
  end(): void {
    if (!this.isDone) this.#pieces.return?.();
  }
}

/** The slices, each in a turn of its own. */
async function* inTurns<Piece extends { readonly length: number }>(
  slices: Slices<Piece>,
): AsyncGenerator<Piece[], void> {
  try {
    while (!slices.isDone) yield await slices.nextTurn();
  } finally {
    slices.end();
  }
}

async function* byteSlices(
  rounds: AsyncIterable<Iterable<Uint8Array>>,
  pace: Pace,
): AsyncGenerator<Uint8Array, void> {
  for await (const pieces of rounds) {
    for await (const slice of inTurns(new Slices(pieces, pace))) {
      const bytes = Buffer.concat(slice);
      if (bytes.length > 0) yield bytes;
    }
  }
}

async function* resumed(first: string, slices: Slices<string>): AsyncGenerator<string, void> {
  try {
    yield first;
    for await (const slice of inTurns(slices)) yield slice.join('');
  } finally {
    slices.end();
  }
}
