import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { failure, type Result, success } from '../../../common/result.js';
import { type Asked, askedHere } from '../../../common/work.js';
import type { LearnedPiece, ToLearner } from '../../../extensions/learn/learn.js';
import { refusal } from '../../../simulator/commands/refusal.js';
import { errorSchema, failures } from '../../../simulator/commands/schemas/problem.js';
import type { Capture } from '../../../simulator/traffic/capture/capture.js';
import { TrafficCursor } from '../../../simulator/traffic/reading.js';
import { refuse, sendBytes, sendText } from '../answers.js';
import { Places } from '../connection-limit.js';
import type { ApiContext } from '../desk.js';
import type { Routes } from './route.js';
import { YAML } from './run-body.js';
import { captureQuery, filterOf, learnedQuery } from './traffic-query.js';

/** Interval in ms in which a live capture looks for new events. */
const TICK_MS = 50;
/**
 * Interval in ms in which an idle live capture sends a keep-alive block, so that its connection is not taken
 * for dead.
 */
const QUIET_MS = 10_000;

/** Size of a piece in bytes, and number of events that are looked at without a pause. */
const PIECE = 64 * 1024;
const PAUSE_AFTER = 4096;

/** The media type of captures; none is registered. */
const PCAPNG = 'application/x-pcapng';

/**
 * Longest time in ms before what was learned comes, and in which a client reads some of it: a busy machine
 * learns from 60,000 requests for more than the half minute that other answers have.
 */
const LEARNING_MS = 300_000;

const learnedAnswer = {
  description: 'A native file.',
  content: { [YAML]: { schema: z.string() } },
};

const captureAnswer = {
  description: 'A pcapng file.',
  content: { [PCAPNG]: { schema: z.string().meta({ format: 'binary' }) } },
};

/**
 * `/api/v1/capture.pcapng`: the traffic as a file for Wireshark. `/api/v1/learned.yaml`: devices that would
 * answer in the same way.
 */
export function captureRoutes(desk: ApiContext): Routes {
  const { traffic } = desk;
  const followers = new Places('live captures', 'follow');
  const learners = new Places('client that learns from the traffic', '', 1);

  return {
    'GET /capture.pcapng': {
      summary: 'Get the traffic for Wireshark',
      description:
        'A pcapng file of the traffic that is kept. With `follow`, it goes on with new traffic, without an end.',
      // For a HEAD, the whole capture would be made and thrown away.
      exposeHeadRoute: false,
      schema: { querystring: captureQuery(traffic.lineNames) },
      handle: async (request, reply) => {
        const query = request.query as CaptureQuery;
        const isGone = () => reply.raw.destroyed;
        const send = () =>
          sendBytes(
            reply.header('content-disposition', 'attachment; filename="capture.pcapng"'),
            PCAPNG,
            captured(desk, query, isGone),
          );
        return query.follow === 'false' ? send() : followers.answer(request, reply, send);
      },
      response: {
        200: captureAnswer,
        400: errorSchema,
        503: errorSchema.describe('As many live captures as are allowed are running.'),
      },
    },
    'GET /learned.yaml': {
      summary: 'Make devices from the traffic',
      description:
        'A native file with devices that answer as those in the traffic did: on a line in monitor mode, the real ones. See docs/learn.md.',
      exposeHeadRoute: false,
      schema: { querystring: learnedQuery(traffic.lineNames) },
      handle: async (request, reply) => {
        const query = request.query as Omit<CaptureQuery, 'form' | 'follow'>;
        let learner: Asked<ToLearner, LearnedPiece> | undefined;
        const learn = async () => {
          // In this thread, it is one turn.
          if (desk.beginLearning) reply.raw.setTimeout(LEARNING_MS);
          learner = desk.beginLearning?.() ?? (await learningHere());
          const isGone = () => reply.raw.destroyed;
          const capture = captured(desk, { ...query, form: 'wire', follow: 'false' });
          const learned = await learnedOf(capture, learner, isGone);
          if (!learned.ok) return refuse(request, reply, refusal('traffic.unusable', '', learned.error));
          reply.header('content-disposition', 'attachment; filename="learned.yaml"');
          return sendText(reply, YAML, learned.value);
        };
        return learners.answer(request, reply, learn, () => learner?.end());
      },
      response: { 200: learnedAnswer, ...failures(400, 409) },
    },
  };
}

/**
 * The native file of the devices in a capture, in pieces that are made as fast as they are read, or a
 * sentence that says why there is none.
 */
async function learnedOf(
  capture: AsyncIterable<Uint8Array>,
  learner: Asked<ToLearner, LearnedPiece>,
  isGone: () => boolean,
): Promise<Result<AsyncIterable<string>>> {
  try {
    await learner.ask({ kind: 'next' });
    for await (const piece of capture) {
      const asked = await learner.ask({ kind: 'capture', piece });
      if (asked.kind === 'unusable') return failure(asked.message);
    }
    const first = await learner.ask({ kind: 'next' });
    return first.kind === 'unusable' ? failure(first.message) : success(textFrom(first, learner));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
      return failure('there is more traffic than there is memory for: ask for one line, or since when');
    // The work ends with the client that asked for it.
    if (isGone()) return failure('the client has left');
    throw error;
  }
}

async function learningHere(): Promise<Asked<ToLearner, LearnedPiece>> {
  const { learning } = await import('../../../extensions/learn/learn.js');
  return askedHere(learning());
}

async function* textFrom(
  first: LearnedPiece,
  learner: Asked<ToLearner, LearnedPiece>,
): AsyncGenerator<string> {
  for (let piece = first; piece.kind === 'text' && piece.text !== ''; ) {
    yield piece.text;
    piece = await learner.ask({ kind: 'next' });
  }
}

type CaptureQuery = z.infer<ReturnType<typeof captureQuery>>;

/**
 * The present traffic; with `follow`, also new traffic until the client is gone. The client reads at its own
 * pace. Keep-alive blocks show whether it is still there.
 */
async function* captured(
  { traffic, map, now }: ApiContext,
  query: CaptureQuery,
  isGone = () => false,
): AsyncGenerator<Uint8Array> {
  const isLive = query.follow !== 'false';
  const filter = filterOf(query);
  const cursor = new TrafficCursor(
    traffic,
    filter,
    query.after ?? (isLive ? traffic.last : traffic.first - 1),
  );
  const { Capture } = await import('../../../simulator/traffic/capture/capture.js');
  const capture = new Capture(query.form, map);
  await map.refresh();
  yield Buffer.concat(capture.header(filter.lines));
  if (!isLive) {
    yield* packets(capture, cursor, traffic.last);
    return;
  }
  for (let saidAt = now(); !isGone(); await wait(TICK_MS)) {
    if (!cursor.isAtEnd) {
      await map.refresh();
      yield* packets(capture, cursor, traffic.last);
    }
    if (now() - saidAt < QUIET_MS) continue;
    saidAt = now();
    yield Buffer.concat(capture.stillAlive(Date.now()));
  }
}

/** The packets of the events up to `until`, in pieces of about `PIECE` bytes. */
async function* packets(capture: Capture, cursor: TrafficCursor, until: number): AsyncGenerator<Uint8Array> {
  let [blocks, size]: [Uint8Array[], number] = [[], 0];
  let looked = 0;
  for (const event of cursor.events(until)) {
    capture.missed(cursor.missed);
    for (const block of event ? capture.blocksOf(event) : []) {
      blocks.push(block);
      size += block.length;
    }
    if (size < PIECE && ++looked % PAUSE_AFTER !== 0) continue;
    if (size > 0) yield Buffer.concat(blocks);
    [blocks, size] = [[], 0];
    // Gives other requests their turn.
    await nextTurn();
  }
  if (size > 0) yield Buffer.concat(blocks);
}
