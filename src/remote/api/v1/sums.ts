import { z } from 'zod';
import { oneOf, section } from '../../../common/schema/parts.js';
import { moment } from '../../../common/schema/units.js';
import { errorSchema } from '../../../simulator/commands/schemas/problem.js';
import { SUM_NAMES, SUMS } from '../../../simulator/traffic/sums.js';
import { sendJson } from '../answers.js';
import type { ApiContext } from '../desk.js';
import { type KeptSums, rounded } from '../sums.js';
import type { Routes } from './route.js';

/** The lengths of the summed periods, in s, by name. */
const LENGTHS = { '1s': 1, '10s': 10, '1m': 60 } as const;

const sumSchema = z
  .object({
    time: z.string().describe('The start of the span, ISO 8601.'),
    monotonicUs: z.number().describe('The same moment in µs since the program started.'),
    seconds: z.number().describe('The length of the span: 1, 10 or 60 s.'),
    line: z.string(),
    unit: z
      .number()
      .nullable()
      .describe(
        'Null for events without a unit, such as damage, and for units beyond 250 per line and second, or 20,000 per span.',
      ),
    function: z.number().nullable().describe('Without the exception flag; null as for `unit`.'),
    ...Object.fromEntries(SUM_NAMES.map((name) => [name, z.number().describe(SUMS[name])])),
  })
  .describe('The traffic of one unit and function on a line in one span of time.');

export type SumsView = Readonly<
  Pick<KeptSums, (typeof SUM_NAMES)[number] | 'seconds' | 'line'> & {
    time: string;
    monotonicUs: number;
    unit: number | null;
    function: number | null;
  }
>;

const sumsQuery = section({
  every: oneOf(['1s', '10s', '1m'])
    .default('1s')
    .describe(
      'The length of each span. Spans of 1s are kept for ten minutes, spans of 10s for an hour, spans of 1m for a day.',
    ),
  since: moment
    .optional()
    .describe('Only spans that end after this moment: ISO 8601, or how long ago (`30s`).'),
  line: z.string().optional().describe('Only this line.'),
});

const sumList = z.object({ sums: z.array(sumSchema) }).meta({
  description: 'The totals.',
  examples: [
    {
      sums: [
        {
          ...{
            time: '2026-11-28T12:00:00.000Z',
            monotonicUs: 60_000_000,
            seconds: 1,
            line: 'bench',
            unit: 1,
            function: 3,
          },
          ...{ requests: 10, good: 9, exceptions: 0, ordered: 1, missing: 0, foreign: 0, damaged: 0 },
          ...{ bytesIn: 80, bytesOut: 90, speakingMs: 177.083, slowestMs: 4.2 },
        },
      ],
    },
  ],
});

/** Shows sums with wall-clock times. */
function sumsViewer({ now }: Pick<ApiContext, 'now'>): (sums: KeptSums) => SumsView {
  const zero = Date.now() - now();
  return ({ from, unit, function: code, ...sums }) => ({
    ...sums,
    time: new Date(Math.round(zero + 1000 * from)).toISOString(),
    monotonicUs: from * 1e6,
    unit: unit < 0 ? null : unit,
    function: code < 0 ? null : code,
    ...rounded(sums),
  });
}

/** Maximum number of seconds in a message to an event reader; a slow reader does not get older ones. */
const MOST_SECONDS = 5;

/**
 * Makes a function for each event reader. It returns the sums of the seconds since its last call as JSON;
 * undefined if there are none. Readers that get the same seconds share the text.
 */
export function sumsTexts(desk: Pick<ApiContext, 'sums' | 'now'>): () => () => string | undefined {
  let made = { after: -1, last: -1, text: '' };
  return () => {
    let known = desk.sums.last;
    return () => {
      const { last } = desk.sums;
      if (last <= known) return undefined;
      const after = Math.max(known, last - MOST_SECONDS);
      known = last;
      if (made.after !== after || made.last !== last) {
        const sums = Array.from(desk.sums.from(1, after + 1), sumsViewer(desk));
        made = { after, last, text: JSON.stringify({ sums }) };
      }
      return made.text;
    };
  };
}

/** How many rows are processed before a yield. */
const PIECE = 200;

/** `/api/v1/sums`: the summed traffic of the lines. */
export function sumsRoutes(desk: ApiContext): Routes {
  return {
    'GET /sums': {
      summary: 'Read the traffic totals',
      description:
        'One row for each span, line, unit and function that occurred, oldest first. Counting starts when REST starts to listen.',
      schema: { querystring: sumsQuery },
      handle: async (request, reply) => {
        const { every, since, line } = request.query as z.infer<typeof sumsQuery>;
        await desk.sums.read();
        const from = since === undefined ? 0 : (since - Date.now() + desk.now()) / 1000;
        return sendJson(reply, { sums: pieces(desk, desk.sums.from(LENGTHS[every], from), line) });
      },
      response: { 200: sumList, 400: errorSchema },
    },
  };
}

/** The rows of one line, or of all, in pieces; a piece may be empty. */
export async function* pieces(
  desk: Pick<ApiContext, 'now'>,
  sums: Iterable<KeptSums>,
  line: string | undefined,
): AsyncGenerator<readonly SumsView[]> {
  const view = sumsViewer(desk);
  let piece: SumsView[] = [];
  let looked = 0;
  for (const each of sums) {
    if (line === undefined || each.line === line) piece.push(view(each));
    if (++looked % PIECE > 0) continue;
    yield piece;
    piece = [];
  }
  yield piece;
}
