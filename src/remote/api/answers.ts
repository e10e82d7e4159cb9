import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Outcome, Refusal } from '../../simulator/commands/refusal.js';
import { errorAnswer } from './error-answer.js';
import { statusOf } from './problem.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** An answer longer than this many characters is made only as fast as the client reads it, in pieces of about this size. */
const PIECE_LENGTH = 64 * 1024;
/** How long in ms a piece may take before other requests get their turn. */
const PIECE_MS = 10;

/** The parts of a request and a reply that are used, whatever their route declares. */
type AnyRequest = Pick<FastifyRequest, 'url' | 'params'>;
interface AnyReply {
  code(status: never): unknown;
  readonly raw: FastifyReply['raw'];
}

/** What a route returns that has sent its answer by itself. Its type fits the answers of any route. */
type Sent = never;

/** Sends what a call has come to. @param status of a success */
export async function send(
  request: AnyRequest,
  reply: AnyReply,
  result: Outcome<unknown> | Promise<Outcome<unknown>>,
  status = 200,
): Promise<Sent> {
  const outcome = await result;
  if (!outcome.ok) return refuse(request, reply, outcome);
  return (reply as unknown as FastifyReply).code(status).send(outcome.value) as Sent;
}

/** Sends why nothing was done. */
export function refuse(request: AnyRequest, reply: AnyReply, refusal: Refusal): Sent {
  const body = errorAnswer(request.url, named(request, refusal));
  return (reply as unknown as FastifyReply).code(statusOf(refusal)).send(body) as Sent;
}

/** A path of REST calls the line or device that it is about `name`. */
function named({ params }: AnyRequest, refusal: Refusal): Refusal {
  if (typeof params !== 'object' || params === null || !('name' in params)) return refusal;
  const problems = refusal.problems.map((problem) =>
    problem.path === 'line' || problem.path === 'device' ? { ...problem, path: 'name' } : problem,
  );
  return { ...refusal, problems };
}

/** Sends text that is made piece by piece; a short one as a whole. */
export async function sendText(
  reply: AnyReply,
  type: string,
  pieces: AsyncIterable<string> | Iterable<string>,
): Promise<Sent> {
  const typed = (reply as unknown as FastifyReply).type(type);
  const chunks = chunksOf(pieces);
  const first = await chunks.next();
  if (first.done) return typed.send('') as Sent;
  const second = await chunks.next();
  if (second.done) return typed.send(first.value) as Sent;
  return typed.send(bodyOf([first.value, second.value], chunks)) as Sent;
}

/** Sends an object as JSON. Members that are lists in parts are written as fast as the client reads them. */
export function sendJson(reply: AnyReply, answer: Readonly<Record<string, unknown>>): Promise<Sent> {
  return sendText(reply, JSON_TYPE, jsonPieces(answer));
}

/** Sends bytes as fast as the client reads them. */
export function sendBytes(reply: AnyReply, type: string, pieces: AsyncIterable<Uint8Array>): Sent {
  const body = bodyOf([], pieces[Symbol.asyncIterator]());
  return (reply as unknown as FastifyReply).type(type).send(body) as Sent;
}

/** A body that asks for a piece when the client has read the one before. Whenever the client leaves, the pieces are ended. */
function bodyOf<Piece>(begun: readonly Piece[], pieces: AsyncIterator<Piece>): Readable {
  const body = Readable.from(resumed(begun, pieces), { highWaterMark: 1 });
  // Before `resumed` has come to the pieces, its end is not theirs.
  return body.once('close', () => void pieces.return?.());
}

/** Pieces of about `PIECE_LENGTH` characters. Other requests get their turn between two of them. */
async function* chunksOf(pieces: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string, void> {
  let chunk = '';
  let startedAt = performance.now();
  for await (const piece of pieces) {
    chunk += piece;
    if (chunk.length < PIECE_LENGTH && performance.now() - startedAt < PIECE_MS) continue;
    if (chunk !== '') yield chunk;
    chunk = '';
    await nextTurn();
    startedAt = performance.now();
  }
  if (chunk !== '') yield chunk;
}

async function* resumed<Piece>(
  begun: readonly Piece[],
  rest: AsyncIterator<Piece>,
): AsyncGenerator<Piece, void> {
  yield* begun;
  yield* { [Symbol.asyncIterator]: () => rest };
}

/**
 * The JSON of an object in pieces. A member that is a list in parts is written part by
 * part, and so are the members of a member that has one. A member that is a function is
 * called when the members before it are written.
 */
async function* jsonPieces(answer: Readonly<Record<string, unknown>>): AsyncGenerator<string, void> {
  let separator = '{';
  try {
    for (const [key, member] of Object.entries(answer)) {
      const value: unknown = typeof member === 'function' ? member() : member;
      if (value === undefined) continue;
      yield `${separator}${JSON.stringify(key)}:`;
      separator = ',';
      if (isParts(value)) yield* listPieces(value);
      else if (hasParts(value)) yield* jsonPieces(value);
      else yield JSON.stringify(value);
    }
    yield separator === '{' ? '{}' : '}';
  } finally {
    await endLists(answer);
  }
}

/** Ends the lists of an answer that were not read, as where its client leaves before they are begun. */
async function endLists(answer: Readonly<Record<string, unknown>>): Promise<void> {
  for (const member of Object.values(answer))
    if (isParts(member)) await member[Symbol.asyncIterator]().return?.();
    else if (hasParts(member)) await endLists(member);
}

/** A piece for what comes together, which the lines have made in half a millisecond. */
async function* listPieces(list: AsyncIterable<readonly unknown[]>): AsyncGenerator<string, void> {
  let separator = '[';
  for await (const parts of list) {
    if (parts.length === 0) continue;
    yield separator + JSON.stringify(parts).slice(1, -1);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

function hasParts(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.values(value).some(isParts);
}

function isParts(value: unknown): value is AsyncIterable<readonly unknown[]> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
