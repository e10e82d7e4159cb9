import { z } from 'zod';
import type { Run } from '../../../testing/commands.js';
import { orderSchema } from '../../../testing/examination-order-schema.js';
import {
  examinationJsonByCheck,
  examinationSchema,
  examinationShape,
  examinationSummary,
} from '../../../testing/report/examination-json.js';
import type { ApiContext } from '../desk.js';
import { failures } from '../problem.js';
import type { Routes } from './route.js';
import { runRoutes } from './runs.js';

/** An examination, for examples. */
const EXAMINATION = {
  id: 1,
  state: 'running',
  name: 'the client on line lan',
  line: 'lan',
  seed: 4711,
  verdict: 'pass',
  conclusions: ['Gives up after 487 ± 3 ms, asks 3 times, waits 100, 200 ms.'],
  found: {
    timeoutMs: { value: 487, plusMinus: 3 },
    attempts: 3,
    pausesMs: [100, 200],
    pollPeriodMs: 1000,
  },
  checks: [
    {
      id: 'wrong-crc',
      group: 'damaged',
      title: 'Throws away a reply with a wrong CRC',
      verdict: 'pass',
      summary: 'asked again 1000 ms after the request whose reply was spoilt',
      durationMs: 2140,
    },
  ],
};

const checksQuery = z.strictObject({
  line: z.string().optional().describe('Only the checks that can be run on this line.'),
});

const fields = { id: z.number(), state: z.enum(['running', 'over']), ...examinationShape };

export type ExaminationSummary = z.infer<z.ZodObject<typeof fields>>;

const { id: _id, state: _state, checks, ...found } = EXAMINATION;
/** The report on the examination, for examples. */
const REPORT = {
  ...found,
  checks: checks.map((check) => ({ ...check, frames: [] })),
  startedAt: '2026-01-31T12:00:00.000Z',
  durationMs: 12.5,
  versions: [{ name: 'modbus-sim', version: '1.0.0-rc.1' }],
};

/** The body of `POST`. */
const order = orderSchema.meta({
  description: 'What is to be examined. The line must be open, and a client must poll it.',
  examples: [{ line: 'lan', unit: 1, checks: ['watching', 'time-out'], limit: '5m', seed: 4711 }],
});

const checkView = z
  .object({
    id: z.string(),
    group: z.string(),
    title: z.string(),
    does: z.string(),
    matters: z.string().describe('Why that matters to somebody who uses the client.'),
    rule: z.string().describe('When it passes, when it fails, and when neither can be said.'),
    source: z.string().describe('The clause of a specification, or what is known of real clients.'),
  })
  .meta({ id: 'Check', description: 'One check of how a client behaves.' });

const checkList = z
  .object({ checks: z.array(checkView) })
  .describe('The checks, in the order of their groups.');

/** `/api/v1/examinations`: how the clients of running lines behave. `/api/v1/checks`: what is checked. */
export function examinationRoutes(desk: ApiContext): Routes {
  return {
    'GET /checks': {
      summary: 'List the checks of examinations',
      description: 'What each one does, why, and when it passes.',
      call: 'examination.checks',
      as: 'checks',
      schema: { querystring: checksQuery },
      response: { 200: checkList, ...failures(400) },
    },
    ...runRoutes(desk, {
      one: 'examination',
      called: 'an examination',
      number: '2',
      fields,
      about: 'An examination that runs or has run, with what it has found by now.',
      example: EXAMINATION,
      summary,
      known: 'What is known of the client by now, with the frames that show it.',
      failure:
        'Why the check that runs has failed: the client has died. Without it, that check is `not run`.',
      start: {
        summary: 'Start an examination',
        description: 'Only one test or examination can run on a line at a time.',
        call: 'examination.start',
        show: summary,
        schema: { describedBody: order },
      },
      json: { schema: examinationSchema.meta({ examples: [REPORT] }), of: examinationJsonByCheck },
    }),
  };
}

function summary({ id, isOver, report }: Run): ExaminationSummary {
  return { id, state: isOver ? 'over' : 'running', ...examinationSummary(report) };
}
