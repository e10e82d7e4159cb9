import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Refusal } from '../../simulator/commands/refusal.js';
import { errorAnswer, statusOf } from './error-answer.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Length of a piece in characters. A longer answer is produced in pieces of about this size, only as fast as
 * the client reads.
 */
const PIECE_LENGTH = 64 * 1024;
/** Maximum time in ms for producing a piece before other requests get their turn. */
const PIECE_MS = 10;

/** The parts of a request that are used here, for any route. */
type AnyRequest = Pick<FastifyRequest, 'url' | 'params'>;
interface AnyReply {
  code(status: never): unknown;
  readonly raw: FastifyReply['raw'];
}

/**
 * The return value of a handler that has sent its answer itself. The type is assignable to the answers of any
 * route.
 */
export type Sent = never;

export function refuse(request: AnyRequest, reply: AnyReply, refusal: Refusal): Sent {
  const body = errorAnswer(request.url, named(request, refusal));
  return (reply as unknown as FastifyReply).code(statusOf(refusal)).send(body) as Sent;
}

/** Renames the path `line` or `device` of a problem to `name`, which is what routes call this parameter. */
function named({ params }: AnyRequest, refusal: Refusal): Refusal {
  if (typeof params !== 'object' || params === null || !('name' in params)) return refusal;
  const problems = refusal.problems.map((problem) =>
    problem.path === 'line' || problem.path === 'device' ? { ...problem, path: 'name' } : problem,
  );
  return { ...refusal, problems };
}

/** Sends text that is produced in pieces. Short text is sent as a whole. */
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

/** Sends an object as JSON. Members that are lists in parts are written only as fast as the client reads. */
export function sendJson(reply: AnyReply, answer: Readonly<Record<string, unknown>>): Promise<Sent> {
  return sendText(reply, JSON_TYPE, jsonPieces(answer));
}

/** Sends bytes only as fast as the client reads. */
export function sendBytes(reply: AnyReply, type: string, pieces: AsyncIterable<Uint8Array>): Sent {
  const body = bodyOf([], pieces[Symbol.asyncIterator]());
  return (reply as unknown as FastifyReply).type(type).send(body) as Sent;
}

/**
 * A body that requests a piece once the client has read the previous one. Closes `pieces` when the client
 * disconnects.
 */
function bodyOf<Piece>(begun: readonly Piece[], pieces: AsyncIterator<Piece>): Readable {
  const body = Readable.from(resumed(begun, pieces), { highWaterMark: 1 });
  // A body that closes before it has requested anything does not close `pieces` itself.
  return body.once('close', () => void pieces.return?.());
}

/** Joins pieces to about `PIECE_LENGTH` characters. Other requests get their turn between two of them. */
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
 * The JSON of an object, in pieces. A list in parts is written part by part, at any depth of members. If a
 * member is a function, it is called once the members before it have been written.
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

/**
 * Closes the lists of an answer that were not read, for example because the client disconnected before they
 * were started.
 */
async function endLists(answer: Readonly<Record<string, unknown>>): Promise<void> {
  for (const member of Object.values(answer))
    if (isParts(member)) await member[Symbol.asyncIterator]().return?.();
    else if (hasParts(member)) await endLists(member);
}

/**
 * One piece for all parts that arrive together; the lines produced them within half a millisecond. If there
 * are none, the piece is empty, so that a long search gives others their turn.
 */
async function* listPieces(list: AsyncIterable<readonly unknown[]>): AsyncGenerator<string, void> {
  let separator = '[';
  for await (const parts of list) {
    yield parts.length === 0 ? '' : separator + JSON.stringify(parts).slice(1, -1);
    if (parts.length > 0) separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

function hasParts(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.values(value).some(isParts);
}

function isParts(value: unknown): value is AsyncIterable<readonly unknown[]> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
