import { z } from 'zod';
import { refusal } from '../../../simulator/commands/refusal.js';
import { errorSchema } from '../../../simulator/commands/schemas/problem.js';
import { refuse } from '../answers.js';
import { StayingAnswers } from '../connection-limit.js';
import type { ApiContext } from '../desk.js';
import { EventMessages } from './event-messages.js';
import { sendEvents } from './event-reader.js';
import type { Routes } from './route.js';
import { eventsQuery, filterOf } from './traffic-query.js';

const resumeHeaders = z.object({
  'last-event-id': z
    .string()
    .optional()
    .describe('The identifier of the last message. A browser that comes back sends it by itself.'),
});

const eventsAnswer = {
  description:
    'Server-sent events, at most 20 messages a second: each is a list of events as in `/traffic`, or a summary.',
  content: { 'text/event-stream': { schema: z.string() } },
};

/** `/api/v1/events`: the traffic of the lines, as it happens. */
export function eventRoutes(desk: ApiContext): Routes {
  const { traffic } = desk;
  const messages = new EventMessages(desk);
  const summary = summaryTexts(desk);
  const querystring = eventsQuery(traffic.lineNames);
  const readers = new StayingAnswers();

  return {
    'GET /events': {
      summary: 'Follow the traffic',
      description:
        'What passes the lines, as it happens, without an end. A slow reader gets the number of events it has missed.',
      // An answer without a body would never end.
      exposeHeadRoute: false,
      schema: { headers: resumeHeaders, querystring },
      handle: async (request, reply) => {
        const limit = readers.limitReached(request.server.server);
        if (limit !== undefined) {
          const message = `expected at most ${limit} reader${limit === 1 ? '' : 's'}, and so many are connected`;
          return refuse(request, reply, refusal('readers.too_many', '', message));
        }
        const query = request.query as z.infer<typeof querystring>;
        const { after = traffic.last, tell = ['traffic'], ...wanted } = query;
        const { 'last-event-id': lastId } = request.headers as z.infer<typeof resumeHeaders>;
        const known = lastEventId(lastId) ?? after;
        const filter = filterOf(wanted);
        const name = JSON.stringify(wanted);
        const reader = readers.begin();
        reply.hijack();
        try {
          await sendEvents(
            reply.raw,
            {
              // A number that the stream has not reached yet means the newest event.
              after: Math.min(known, traffic.last),
              messageAfter: tell.includes('traffic') ? (at) => messages.after(at, filter, name) : undefined,
              summary: tell.includes('summary') ? summary : undefined,
            },
            messages,
          );
        } catch (error) {
          request.log.error(error, 'the events could not be sent');
        } finally {
          // The reader gets no more here; it reconnects when it is disconnected.
          reply.raw.destroy();
          reader.end();
        }
        return reply;
      },
      response: {
        200: eventsAnswer,
        400: errorSchema,
        503: errorSchema.describe('As many readers as are allowed are connected.'),
      },
    },
  };
}

/**
 * Lifetime of a summary in ms. Readers ask at the same moments, so one summary serves all that ask within
 * this time.
 */
const FRESH_MS = 25;

/** Makes a function that returns the summary as JSON. */
function summaryTexts({ rpc }: ApiContext): () => Promise<string> {
  let [text, madeAt] = [Promise.resolve(''), Number.NEGATIVE_INFINITY];
  return () => {
    if (performance.now() - madeAt > FRESH_MS) {
      text = rpc
        .call('program.summary', undefined)
        .then((outcome) => JSON.stringify(outcome.ok ? outcome.value : {}));
      madeAt = performance.now();
    }
    return text;
  };
}

/**
 * The number in the header with which a reader reconnects. Any other text is an identifier of another
 * program.
 */
function lastEventId(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}
