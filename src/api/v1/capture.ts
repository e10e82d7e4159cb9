import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { unknownName } from '../../schema/nearest.js';
import { oneOf, UNLIMITED, wholeNumber } from '../../schema/parts.js';
import { captureLines } from '../../simulator/capture-lines.js';
import type { Simulator } from '../../simulator/simulator.js';
import { Capture, FORM_NAMES } from '../../traffic/capture/capture.js';
import { capturePieces } from '../../traffic/capture/capture-pieces.js';
import { TrafficCursor, type Wanted } from '../../traffic/cursor.js';
import type { TrafficStream } from '../../traffic/stream.js';
import type { LongAnswers } from '../long-answers.js';
import { errorBody, errorSchema } from './problem.js';
import { inQuery } from './query.js';

/** Live captures at a time. Each costs the loop some of its time. */
const MAX_FOLLOWERS = 16;
/** How often a live capture looks for new events. */
const TICK_MS = 50;
/** A live capture of a quiet line says so often that it goes on, before its connection is taken for a dead one. */
const QUIET_MS = 10_000;

const query = z.strictObject({
  form: oneOf(FORM_NAMES).default('wire'),
  /** Only this line. */
  line: z.string().optional(),
  /** Only events after the one with this sequence number. */
  after: inQuery(wholeNumber(0, UNLIMITED, 'the sequence number of an event')).optional(),
  /** `?follow` or `?follow=true`: new events as they happen, without an end. */
  follow: z.literal(['', 'true', 'false'], { error: 'true or false' }).default('false'),
});

/** `/api/v1/capture.pcapng`: the traffic as a file for Wireshark. */
export function captureRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  const { traffic, lines } = simulator;
  let followers = 0;

  return (app, _, done) => {
    app.get(
      '/capture.pcapng',
      // A HEAD would have to make the whole capture and throw it away.
      {
        exposeHeadRoute: false,
        schema: { querystring: query, response: { 400: errorSchema, 503: errorSchema } },
      },
      async ({ query: { form, line, after, follow } }, reply) => {
        if (line !== undefined && !lines.has(line)) {
          const message = unknownName('line', line, [...lines.keys()]);
          return reply.code(400).send(errorBody([{ path: 'line', message }]));
        }
        const isLive = follow !== 'false';
        if (isLive && followers >= MAX_FOLLOWERS) {
          const message = `${MAX_FOLLOWERS} live captures are running, which is the most`;
          return reply.code(503).send(errorBody([{ path: 'follow', message }]));
        }
        const capture = new Capture(form, captureLines(lines));
        // A filter of all traffic routes goes here.
        const wanted: Wanted = (outline) => line === undefined || outline.line === line;
        const cursor = new TrafficCursor(traffic, after ?? (isLive ? traffic.last : 0), wanted);
        reply.header('content-disposition', 'attachment; filename="capture.pcapng"');
        if (!isLive) {
          return answers.sendBytes(reply, PCAPNG, wholeCapture(traffic, capture, cursor, line));
        }
        followers++;
        // A reader that goes away is the usual end of a live capture.
        await answers
          .sendBytes(reply, PCAPNG, liveCapture(traffic, capture, cursor, line))
          .catch(() => undefined)
          .finally(() => followers--);
      },
    );
    done();
  };
}

/** There is no registered media type. */
const PCAPNG = 'application/x-pcapng';

/** What is in the stream now. */
async function* wholeCapture(
  { last }: TrafficStream,
  capture: Capture,
  cursor: TrafficCursor,
  line: string | undefined,
): AsyncGenerator<Iterable<Uint8Array>> {
  yield capture.header(line);
  yield capturePieces(capture, cursor, last);
}

/** What is in the stream behind the cursor, and what comes. */
async function* liveCapture(
  traffic: TrafficStream,
  capture: Capture,
  cursor: TrafficCursor,
  line: string | undefined,
): AsyncGenerator<Iterable<Uint8Array>> {
  yield capture.header(line);
  let saidAt = performance.now();
  while (true) {
    if (cursor.at < traffic.last) {
      yield capturePieces(capture, cursor, traffic.last);
    }
    const now = performance.now();
    if (now - saidAt >= QUIET_MS) {
      saidAt = now;
      yield capture.stillAlive(now + traffic.wallOffset);
    }
    await wait(TICK_MS);
  }
}
