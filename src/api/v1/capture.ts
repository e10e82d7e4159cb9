import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { captureLines } from '../../simulator/capture-lines.js';
import type { Simulator } from '../../simulator/simulator.js';
import { Capture, capturePieces } from '../../traffic/capture/capture.js';
import { TrafficCursor } from '../../traffic/reading.js';
import type { TrafficStream } from '../../traffic/stream.js';
import type { LongAnswers } from '../long-answers.js';
import { errorBody, errorSchema } from './problem.js';
import { captureQuery, filterOf } from './traffic-query.js';

/** Live captures at a time. They stay connected, so they must not take all connections. */
const MAX_FOLLOWERS = 16;
const SHARE_OF_CONNECTIONS = 1 / 4;
/** How often a live capture looks for new events. */
const TICK_MS = 50;
/** A live capture of a quiet line says so often that it goes on, before its connection is taken for a dead one. */
const QUIET_MS = 10_000;

/** There is no registered media type. */
const PCAPNG = 'application/x-pcapng';

const captureAnswer = {
  description: 'A pcapng file.',
  content: { [PCAPNG]: { schema: z.string().meta({ format: 'binary' }) } },
};

/** One capture: its file, and where it stands in the stream. */
interface Captured {
  readonly traffic: TrafficStream;
  readonly capture: Capture;
  readonly cursor: TrafficCursor;
  /** Names of the lines to describe; all of them when undefined. */
  readonly names: Iterable<string> | undefined;
}

/** `/api/v1/capture.pcapng`: the traffic as a file for Wireshark. */
export function captureRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  const { traffic, lines } = simulator;
  let followers = 0;

  return (app, _, done) => {
    const limit = Math.max(1, Math.min(MAX_FOLLOWERS, app.server.maxConnections * SHARE_OF_CONNECTIONS));
    app.get(
      '/capture.pcapng',
      {
        // A HEAD would have to make the whole capture and throw it away.
        exposeHeadRoute: false,
        schema: {
          summary: 'Get the traffic for Wireshark',
          description: 'A pcapng file of what is kept, or with `follow` one that goes on without an end.',
          tags: ['traffic'],
          querystring: captureQuery(traffic.lineNames),
          response: {
            200: captureAnswer,
            400: errorSchema,
            503: errorSchema.describe('As many live captures as are allowed are running.'),
          },
        },
      },
      async ({ query }, reply) => {
        const { form, after, follow } = query;
        const isLive = follow !== 'false';
        if (isLive && followers + 1 > limit) {
          const message = `expected at most ${Math.floor(limit)} live captures, and so many are running`;
          return reply.code(503).send(errorBody([{ path: 'follow', message }]));
        }
        const filter = filterOf(query);
        const begin = after ?? (isLive ? traffic.last : traffic.first - 1);
        const captured = {
          traffic,
          capture: new Capture(form, captureLines(lines)),
          cursor: new TrafficCursor(traffic, filter, begin),
          names: filter.lines,
        };
        reply.header('content-disposition', 'attachment; filename="capture.pcapng"');
        if (!isLive) return answers.sendBytes(reply, PCAPNG, wholeCapture(captured));
        followers++;
        try {
          await answers.sendBytes(reply, PCAPNG, liveCapture(captured));
        } catch {
          // A reader that goes away is the usual end of a live capture.
        } finally {
          followers--;
        }
      },
    );
    done();
  };
}

/** What is in the stream now. */
async function* wholeCapture(captured: Captured): AsyncGenerator<Iterable<Uint8Array>> {
  const { traffic, capture, cursor, names } = captured;
  const { last } = traffic;
  yield capture.header(names);
  yield capturePieces(capture, cursor, last);
}

/** What is in the stream behind the cursor, and what comes. */
async function* liveCapture(captured: Captured): AsyncGenerator<Iterable<Uint8Array>> {
  const { traffic, capture, cursor, names } = captured;
  yield capture.header(names);
  let saidAt = performance.now();
  while (true) {
    if (!cursor.isAtEnd) yield capturePieces(capture, cursor, traffic.last);
    const now = performance.now();
    if (now - saidAt >= QUIET_MS) {
      saidAt = now;
      yield capture.stillAlive(now + traffic.wallOffset);
    }
    await wait(TICK_MS);
  }
}
