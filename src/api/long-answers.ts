import { Readable } from 'node:stream';

/** What the making of long answers needs from outside, so that a test decides it. */
export interface Pace {
  /** Resolves when the next piece may be made. */
  take(): Promise<void>;
  /** In ms. */
  now(): number;
}

/** The part of Fastify's reply that answers are sent with, whatever its route declares; a sent reply can be awaited. */
interface JsonReply {
  type(contentType: string): {
    send(payload: never): { then(sent: () => void, failed: (error: Error) => void): void };
  };
}

/** After so many ms of making an answer, the event loop is given back: lines are served by it too. */
const SLICE_MS = 2;

/** Longer answers are made only as fast as their client reads them, in pieces of about this many characters. */
const WHOLE_LENGTH = 64 * 1024;

/** Sends answers that may be long: they stall no line, and clients that don't read them fill no memory. */
export class LongAnswers {
  readonly #pace: Pace;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /**
   * Sends `answer` as JSON. Those of its members that can be iterated over are written as lists, element by element:
   * a generator makes each element when its turn has come.
   */
  async send(reply: JsonReply, answer: object): Promise<void> {
    const slices = inSlices(jsonPieces(answer), this.#pace);
    let text = '';
    for (let next = await slices.next(); !next.done; next = await slices.next()) {
      text += next.value;
      if (text.length > WHOLE_LENGTH) break;
    }
    const payload = text.length > WHOLE_LENGTH ? Readable.from(resumed(text, slices)) : text;
    await reply.type(JSON_TYPE).send(payload as never);
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Joins pieces of text to slices, each made without a pause and none for longer than `SLICE_MS` and one piece. */
async function* inSlices(pieces: Iterable<string>, pace: Pace): AsyncGenerator<string, void> {
  await pace.take();
  let startedAt = pace.now();
  let slice = '';
  for (const piece of pieces) {
    slice += piece;
    if (slice.length < WHOLE_LENGTH && pace.now() - startedAt < SLICE_MS) continue;
    yield slice;
    slice = '';
    await pace.take();
    startedAt = pace.now();
  }
  yield slice;
}

async function* resumed(first: string, rest: AsyncIterable<string>): AsyncGenerator<string, void> {
  yield first;
  yield* rest;
}

/** The JSON of an object in pieces: one for each element of its lists. */
function* jsonPieces(answer: object): Generator<string, void> {
  let separator = '{';
  for (const [key, value] of Object.entries(answer)) {
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    if (isList(value)) yield* listPieces(value);
    else yield JSON.stringify(value);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function* listPieces(list: Iterable<unknown>): Generator<string, void> {
  let separator = '[';
  for (const element of list) {
    yield separator + JSON.stringify(element);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

function isList(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}
