import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { errorSchema } from '../../../simulator/commands/schemas/problem.js';
import type { Capture } from '../../../simulator/traffic/capture/capture.js';
import { TrafficCursor } from '../../../simulator/traffic/reading.js';
import { sendBytes } from '../answers.js';
import { Places } from '../connection-limit.js';
import type { ApiContext } from '../desk.js';
import type { Routes } from './route.js';
import { captureQuery, filterOf } from './traffic-query.js';

/** How often a live capture checks for new events, in ms. */
const TICK_MS = 50;
/** How often an idle live capture sends a keep-alive block, in ms, so that its connection is not considered dead. */
const QUIET_MS = 10_000;

/** Size of a piece in bytes, and how many events are checked before a yield. */
const PIECE = 64 * 1024;
const PAUSE_AFTER = 4096;

/** The media type of captures; none is registered. */
const PCAPNG = 'application/x-pcapng';

const captureAnswer = {
  description: 'A pcapng file.',
  content: { [PCAPNG]: { schema: z.string().meta({ format: 'binary' }) } },
};

/** `/api/v1/capture.pcapng`: the traffic as a file for Wireshark. */
export function captureRoutes(desk: ApiContext): Routes {
  const { traffic } = desk;
  const followers = new Places('live captures', 'follow');

  return {
    'GET /capture.pcapng': {
      summary: 'Get the traffic for Wireshark',
      description:
        'A pcapng file of the kept traffic. With `follow`, it continues with new traffic and never ends.',
      // For a HEAD, the whole capture would be produced and discarded.
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
        503: errorSchema.describe('The maximum number of live captures is already running.'),
      },
    },
  };
}

export type CaptureQuery = z.infer<ReturnType<typeof captureQuery>>;

/**
 * The stored traffic; with `follow`, also new traffic until the client disconnects. The client reads at its
 * own pace. Keep-alive blocks reveal whether it is still there.
 */
export async function* captured(
  { traffic, map, now }: ApiContext,
  query: CaptureQuery,
  isGone = () => false,
): AsyncGenerator<Uint8Array> {
  const isLive = query.follow !== 'false';
  const wanted = filterOf(query);
  // Devices and names may have changed since.
  const cursorFrom = async (after: number) => new TrafficCursor(traffic, await map.filter(wanted), after);
  let cursor = await cursorFrom(query.after ?? (isLive ? traffic.last : traffic.first - 1));
  const { Capture } = await import('../../../simulator/traffic/capture/capture.js');
  const capture = new Capture(query.form, map);
  await map.refresh();
  yield Buffer.concat(capture.header(query.line && 'texts' in query.line ? query.line.texts : undefined));
  if (!isLive) {
    yield* packets(capture, cursor, traffic.last);
    return;
  }
  for (let saidAt = now(); !isGone(); await wait(TICK_MS)) {
    if (!cursor.isAtEnd) {
      await map.refresh();
      cursor = await cursorFrom(cursor.after);
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
