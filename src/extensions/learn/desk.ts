import { z } from 'zod';
import { failure, type Result, success } from '../../common/result.js';
import { section } from '../../common/schema/parts.js';
import { type Asked, answerOrWhyNot, askedHere } from '../../common/work.js';
import { refuse, sendText } from '../../remote/api/answers.js';
import { Places } from '../../remote/api/connection-limit.js';
import type { ApiContext } from '../../remote/api/desk.js';
import type { ExtensionPart } from '../../remote/api/extension.js';
import { type CaptureQuery, captured } from '../../remote/api/v1/capture.js';
import { eventShape, streamStart } from '../../remote/api/v1/traffic-query.js';
import { YAML } from '../../remote/api/v1/yaml-body.js';
import { refusal } from '../../simulator/commands/refusal.js';
import { failures } from '../../simulator/commands/schemas/problem.js';
import type { LearnedPiece, ToLearner } from './learn.js';
import type { Recorded } from './recording.js';

/**
 * Longest time in ms until the answer begins, and between two reads by the client. Learning from 60,000
 * requests on a busy machine takes longer than the half minute allowed for other answers.
 */
const LEARNING_MS = 300_000;

const learnedAnswer = {
  description: 'A native file.',
  content: { [YAML]: { schema: z.string() } },
};

/** `/api/v1/learned.yaml`: devices that answer like those in the traffic. */
export function learnAtDesk(desk: ApiContext): ExtensionPart {
  const learners = new Places('client that learns from the traffic', '', 1);
  return {
    routes: {
      traffic: {
        'GET /learned.yaml': {
          summary: 'Learn devices from the traffic',
          description:
            'A native file with devices that answer like those in the traffic. On a line in monitor mode, these are the real devices. See docs/learn.md.',
          exposeHeadRoute: false,
          schema: {
            querystring: section({
              ...eventShape(desk.traffic.lineNames),
              after: streamStart(),
              recorded: z
                .enum(['once', 'loop'], { error: 'once or loop' })
                .describe(
                  'Reproduces when values changed and how long replies took; `loop` starts again at the end.',
                )
                .optional(),
            }),
          },
          handle: async (request, reply) => {
            const { recorded, ...query } = request.query as Omit<CaptureQuery, 'form' | 'follow'> & {
              readonly recorded?: 'once' | 'loop';
            };
            let learner: Asked<ToLearner, LearnedPiece> | undefined;
            const learn = async () => {
              // Without a work thread, learning is one turn of this thread.
              if (desk.beginWork) reply.raw.setTimeout(LEARNING_MS);
              learner = desk.beginWork?.('learn') ?? (await learningHere());
              const isGone = () => reply.raw.destroyed;
              const capture = captured(desk, { ...query, form: 'wire', follow: 'false' });
              const how = recorded && { loop: recorded === 'loop' };
              const learned = await learnedOf(capture, learner, isGone, how);
              if (!learned.ok) return refuse(request, reply, refusal('traffic.unusable', '', learned.error));
              reply.header('content-disposition', 'attachment; filename="learned.yaml"');
              return sendText(reply, YAML, learned.value);
            };
            return learners.answer(request, reply, learn, () => learner?.end());
          },
          response: { 200: learnedAnswer, ...failures(400, 409) },
        },
      },
    },
  };
}

const TOO_LARGE =
  'there is not enough memory for this much traffic: request one line, or a shorter time with since';

/**
 * The native file of the devices in a capture, in pieces made as fast as they are read; or a sentence that
 * says why there is none.
 */
async function learnedOf(
  capture: AsyncIterable<Uint8Array>,
  learner: Asked<ToLearner, LearnedPiece>,
  isGone: () => boolean,
  recorded?: Recorded,
): Promise<Result<AsyncIterable<string>>> {
  const ask = async () => {
    await learner.ask({ kind: 'next' });
    for await (const piece of capture) {
      const asked = await learner.ask({ kind: 'capture', piece });
      if (asked.kind === 'unusable') return asked;
    }
    return learner.ask({ kind: 'next', ...(recorded && { recorded }) });
  };
  const first = await answerOrWhyNot(ask, isGone, TOO_LARGE);
  if (!first.ok) return first;
  if (first.value.kind === 'unusable') return failure(first.value.message);
  return success(textFrom(first.value, learner));
}

async function learningHere(): Promise<Asked<ToLearner, LearnedPiece>> {
  const { learning } = await import('./learn.js');
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
