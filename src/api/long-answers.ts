import { Readable } from 'node:stream';

/** The outside inputs of `LongAnswers`, which tests replace. */
export interface Pace {
  /** Resolves when the next piece may be made. */
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

/** The longest time in ms to work on an answer before the event loop, which also serves the lines, gets a turn. */
const SLICE_MS = 2;

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
  async send(reply: TypedReply, answer: object): Promise<void> {
    await this.sendText(reply, JSON_TYPE, jsonPieces(answer));
  }

  /** Sends text that is made piece by piece. A piece may be empty: it only says that time has passed. */
  async sendText(reply: TypedReply, contentType: string, pieces: Iterable<string>): Promise<void> {
    const slices = this.#slices(pieces);
    let text = '';
    for (let next = await slices.next(); !next.done; next = await slices.next()) {
      text += next.value;
      if (text.length > WHOLE_LENGTH) break;
    }
    const payload = text.length > WHOLE_LENGTH ? Readable.from(resumed(text, slices)) : text;
    await reply.type(contentType).send(payload as never);
  }

  /** Resolves in a turn of the event loop that no other work of the REST interface has. */
  turn(): Promise<void> {
    return this.#pace.take();
  }

  /**
   * Does long work in slices, each in a turn of its own, and has its result. The work yields when it can pause.
   * @param sliceMs how long a slice may be, and the time of one step more
   */
  async work<Result>(steps: Generator<unknown, Result>, sliceMs = SLICE_MS): Promise<Result> {
    let startedAt = this.#pace.now();
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (this.#pace.now() - startedAt < sliceMs) continue;
      await this.#pace.take();
      startedAt = this.#pace.now();
    }
  }

  /** Joins pieces of text into slices, each of which is made in a turn of its own. */
  async *#slices(pieces: Iterable<string>): AsyncGenerator<string, void> {
    for await (const slice of inSlices(pieces, this.#pace)) yield slice.join('');
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
 * Collects pieces in slices. Each slice is made without a pause, for at most `SLICE_MS` plus the time of one piece.
 */
async function* inSlices<Piece extends { readonly length: number }>(
  pieces: Iterable<Piece>,
  pace: Pace,
): AsyncGenerator<Piece[], void> {
  await pace.take();
  let startedAt = pace.now();
  let slice: Piece[] = [];
  let length = 0;
  for (const piece of pieces) {
    slice.push(piece);
    length += piece.length;
    if (length < WHOLE_LENGTH && pace.now() - startedAt < SLICE_MS) continue;
    yield slice;
    slice = [];
    length = 0;
    await pace.take();
    startedAt = pace.now();
  }
  yield slice;
}

async function* byteSlices(
  rounds: AsyncIterable<Iterable<Uint8Array>>,
  pace: Pace,
): AsyncGenerator<Uint8Array, void> {
  for await (const pieces of rounds) {
    for await (const slice of inSlices(pieces, pace)) {
      const bytes = Buffer.concat(slice);
      if (bytes.length > 0) yield bytes;
    }
  }
}

async function* resumed(first: string, rest: AsyncIterable<string>): AsyncGenerator<string, void> {
  yield first;
  yield* rest;
}

/** The JSON of an object in pieces: one for each element of its lists. */
function* jsonPieces(answer: object): Generator<string, void> {
  let separator = '{';
  for (const [key, member] of Object.entries(answer)) {
    const value = typeof member === 'function' ? member() : member;
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    if (isList(value)) yield* listPieces(value);
    else if (hasGenerator(value)) yield* jsonPieces(value);
    else yield JSON.stringify(value);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function* listPieces(list: Iterable<unknown>): Generator<string, void> {
  let separator = '[';
  for (const element of list) {
    if (element === undefined) {
      yield '';
      continue;
    }
    yield separator + JSON.stringify(element);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

function isList(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

function hasGenerator(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((member) => isList(member) && !Array.isArray(member));
}
