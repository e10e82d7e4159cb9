import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Outcome } from '../../../simulator/commands/refusal.js';
import { failures } from '../../../simulator/commands/schemas/problem.js';
import { unpackEvents } from '../../../simulator/traffic/kept-events.js';
import { OF_RUN } from '../../../testing/declared.js';
import { RUNS } from '../../../testing/declared-runs.js';
import { reportJson } from '../../../testing/report/json.js';
import type { Inconclusive } from '../../../testing/report/junit.js';
import type { PackedFinding, Run } from '../../../testing/report/report.js';
import {
  type FindingView,
  framesOf,
  type ReportView,
  type RunView,
  type ServerFindingView,
  viewOnDemand,
} from '../../../testing/report/report.js';
import { allParts } from '../../rpc/rpc.js';
import { refuse, sendJson, sendText } from '../answers.js';
import { Places } from '../connection-limit.js';
import type { ApiContext } from '../desk.js';
import { MOST_RECORDED, recordRegisters } from '../register-recorder.js';
import type { Route, Routes } from './route.js';

/** Runs without their reports, as REST shows them. */
export type {
  ClientSummary,
  FuzzSummary,
  ScenarioSummary,
  ServerSummary,
} from '../../../testing/declared-runs.js';
/** A finding in the `report` of a run. */
export type { FindingView } from '../../../testing/report/report.js';

type Query = { readonly inconclusive?: Inconclusive };

const HTML = 'text/html; charset=utf-8';
const XML = 'application/xml; charset=utf-8';

/** The policy of a report. It contains its styles, and may do nothing else, wherever it is opened. */
const REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

/** Longest configuration in a report, in characters. A large simulator's has hundreds of megabytes. */
const LONGEST_CONFIGURATION = 256 * 1024;

const file = (type: string, description: string) => ({
  description,
  content: { [type.split(';')[0] as string]: { schema: z.string() } },
});

/** The formats of a report, by file name. The code for a format is loaded at the first request. */
const FORMS = {
  'report.html': {
    ending: 'html',
    as: 'HTML',
    description: 'One page that loads nothing from the network. During the run it shows the results so far.',
    answer: 'A page.',
    type: HTML,
    pieces: async (reports: readonly ReportView[], _?: Inconclusive) =>
      (await import('../../../testing/report/html.js')).htmlPieces(reports),
    querystring: z.object({}),
  },
  'junit.xml': {
    ending: 'xml',
    as: 'JUnit XML',
    description: 'For CI systems: one test case for each step or check.',
    answer: 'A suite.',
    type: XML,
    pieces: async (reports: readonly ReportView[], inconclusive?: Inconclusive) =>
      (await import('../../../testing/report/junit.js')).junitPieces(reports, inconclusive),
    querystring: z.object({
      inconclusive: z
        .enum(['skipped', 'failure'])
        .optional()
        .meta({ description: 'How an inconclusive step or check is reported (default: `skipped`).' }),
    }),
  },
} as const;

/** `report.html`, `junit.xml` and `report.json` of a run. During the run, its report contains what is known so far. */
export function reportRoutes(desk: ApiContext, places: Places): Routes {
  const { params } = OF_RUN;
  const summary = 'Get the report of a run as';
  const answered =
    (ending: string, send: (view: RunView, reply: FastifyReply, query: Query) => unknown) =>
    (request: FastifyRequest, reply: FastifyReply) =>
      places.answer(request, reply, async () => {
        const id = Number((request.params as { id: string }).id);
        const run = await desk.rpc.call('run.get', { id });
        const view = run.ok
          ? await reportView(desk, run.value, ending === 'html' ? () => reply.raw.destroyed : undefined)
          : run;
        if (!view.ok) return refuse(request, reply, view);
        return send(view.value, asFile(reply, `${view.value.kind}-${id}.${ending}`), request.query as Query);
      });
  const texts = Object.entries(FORMS).map(
    ([name, { ending, as, description, answer, type, pieces, querystring }]): [string, Route] => [
      `GET /runs/:id/${name}`,
      {
        summary: `${summary} ${as}`,
        description,
        params,
        schema: { querystring },
        handle: answered(ending, async (view, reply, { inconclusive }) =>
          sendText(reply, type, await pieces([view], inconclusive)),
        ),
        response: { 200: file(type, answer), ...failures(404) },
      },
    ],
  );
  return {
    ...Object.fromEntries(texts),
    'GET /runs/:id/report.json': {
      summary: `${summary} JSON`,
      description: 'The same JSON that `modbus-sim` writes with `--json`.',
      params,
      handle: answered('json', (view, reply) => {
        const parts = Object.entries(reportJson(view)).map(([key, member]) => [
          key,
          isGenerator(member) ? oneByOne(member) : member,
        ]);
        return sendJson(reply, Object.fromEntries(parts));
      }),
      response: {
        200: z.union(Object.values(RUNS).map(({ json }) => json)).meta({ description: 'A report.' }),
        ...failures(404),
      },
    },
  };
}

/** Sets the headers that make browsers store the answer instead of showing it. */
export function asFile(reply: FastifyReply, name: string): FastifyReply {
  return reply
    .header('content-disposition', `attachment; filename="${name}"`)
    .header('content-security-policy', REPORT_POLICY);
}

/**
 * Maximum number of reports read at a time. All frames of a report are in memory while it is read: 20 MB for
 * a test of 1,000 steps.
 */
const MOST_READ = 4;

/** The slots for the reports that a desk sends. */
export function reportPlaces(): Places {
  return new Places('reports', '', MOST_READ);
}

/**
 * A report with everything known so far. Frames are decoded when they are requested.
 * @param isGone for a page, which also needs the registers: whether its client has disconnected
 */
export async function reportView(
  { rpc, map }: ApiContext,
  { id, report }: Run,
  isGone?: () => boolean,
): Promise<Outcome<RunView>> {
  const configuration = await configurationText(rpc);
  const found = await allParts(await rpc.list('run.findings', { id }));
  if ('ok' in found) return found;
  const { kind } = report;
  if (kind === 'server')
    return { ok: true, value: { ...report, configuration, findings: found as ServerFindingView[] } };
  const findings = found as PackedFinding[];
  const whole = {
    ...report,
    kind,
    findings: findings.map(({ packedFrames, ...head }) => ({
      ...head,
      get frames() {
        return unpackEvents(packedFrames);
      },
    })),
  };
  const view = viewOnDemand(whole, configuration, await map.viewer(framesOf(whole)));
  const registers = isGone && {
    registers: await recordRegisters(rpc, map, framesOf(whole), MOST_RECORDED, isGone),
  };
  return { ok: true, value: { ...view, ...registers } };
}

async function configurationText(rpc: ApiContext['rpc']): Promise<string> {
  const outcome = await rpc.list('program.configuration', undefined);
  let text = '';
  for await (const parts of outcome.ok ? outcome.value : []) {
    text += parts.join('');
    if (text.length > LONGEST_CONFIGURATION)
      return `${text.slice(0, LONGEST_CONFIGURATION)}\n# The rest is left out.\n`;
  }
  return text;
}

/** Sends the elements of a list one at a time. */
export async function* oneByOne<Each>(list: Iterable<Each>): AsyncGenerator<readonly Each[]> {
  for (const each of list) yield [each];
}

function isGenerator(value: unknown): value is Iterable<FindingView> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && !Array.isArray(value);
}
