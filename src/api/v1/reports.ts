import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Outcome } from '../../control/refusal.js';
import { allParts } from '../../door/door.js';
import type { PackedFinding, Run } from '../../testing/commands.js';
import { examinationJsonByCheck, examinationSchema } from '../../testing/report/examination-json.js';
import { htmlPieces } from '../../testing/report/html.js';
import { type Inconclusive, junitPieces } from '../../testing/report/junit.js';
import { testJsonByStep } from '../../testing/report/test-json.js';
import { type FindingView, type ReportView, viewOnDemand } from '../../testing/report/view.js';
import { unpackEvents } from '../../traffic/packed-events.js';
import { refuse, sendJson, sendText } from '../answers.js';
import type { Desk } from '../desk.js';
import { failures } from '../problem.js';
import type { Route, Routes } from './route.js';

/** A finding as the `report` of a run has it. */
export type { FindingView } from '../../testing/report/view.js';

type Kind = 'test' | 'examination';

const HTML = 'text/html; charset=utf-8';
const XML = 'application/xml; charset=utf-8';

/** A report has its styles in itself. It may do nothing else, wherever it is opened. */
const REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

/** The configuration of a large bench is hundreds of megabytes; a report has no more of it than this. */
const LONGEST_CONFIGURATION = 256 * 1024;

const REPORT = {
  name: 'over REST',
  verdict: 'pass' as const,
  steps: [
    { name: 'polls', verdict: 'pass' as const, message: 'came after 12 ms', durationMs: 12.5, frames: [] },
  ],
  startedAt: '2026-01-31T12:00:00.000Z',
  durationMs: 12.5,
  seed: 7,
  versions: [{ name: 'modbus-sim', version: '1.0.0-rc.1' }],
};

/** Of an examination, for examples. */
export const EXAMINATION = {
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

const testReport = z
  .object({
    name: z.string(),
    verdict: z.string(),
    steps: z.array(
      z.object({
        name: z.string(),
        verdict: z.string(),
        message: z.string(),
        durationMs: z.number(),
        frames: z.array(z.record(z.string(), z.unknown())),
      }),
    ),
    startedAt: z.string(),
    durationMs: z.number(),
    seed: z.number(),
    versions: z.array(z.object({ name: z.string(), version: z.string() })),
  })
  .meta({ description: 'A report.', examples: [REPORT] });

const { steps: _steps, ...shared } = REPORT;
const { id: _id, state: _state, checks, ...found } = EXAMINATION;
const examinationReport = examinationSchema.meta({
  description: 'A report.',
  examples: [{ ...shared, ...found, checks: checks.map((check) => ({ ...check, frames: [] })) }],
});

const file = (type: string, description: string) => ({
  description,
  content: { [type.split(';')[0] as string]: { schema: z.string() } },
});

/** The forms of a report, by the name of the file. */
const FORMS = {
  'report.html': {
    ending: 'html',
    as: 'HTML',
    description: 'One page that needs nothing from the network. Of one that runs, what is known by now.',
    answer: 'A page.',
    type: HTML,
    pieces: (reports: readonly ReportView[], _?: Inconclusive) => htmlPieces(reports),
    querystring: z.object({}),
  },
  'junit.xml': {
    ending: 'xml',
    as: 'JUnit XML',
    description: 'For CI systems: a case for each step or check.',
    answer: 'A suite.',
    type: XML,
    pieces: junitPieces,
    querystring: z.object({
      inconclusive: z
        .enum(['skipped', 'failure'])
        .optional()
        .meta({ description: 'What an inconclusive step or check is (default: `skipped`).' }),
    }),
  },
} as const;

/** `report.html`, `junit.xml` and `report.json` of tests or examinations. Of one that runs, what is known by now. */
export function reportRoutes(kind: 'tests' | 'examinations', desk: Desk): Routes {
  const one = kind === 'tests' ? 'test' : 'examination';
  const params = z.object({
    id: z
      .string()
      .meta({ description: `The number of the ${one}.`, examples: [kind === 'tests' ? '1' : '2'] }),
  });
  const summary = `Get the report on ${one === 'test' ? 'a test' : 'an examination'} as`;
  /** Browsers store the file instead of showing it. */
  const answered = async (
    request: FastifyRequest,
    reply: FastifyReply,
    ending: string,
    send: (view: ReportView) => unknown,
  ) => {
    const { id } = request.params as z.infer<typeof params>;
    const view = await reportView(desk, one, Number(id));
    if (!view.ok) return refuse(request, reply, view);
    reply
      .header('content-disposition', `attachment; filename="${one}-${Number(id)}.${ending}"`)
      .header('content-security-policy', REPORT_POLICY);
    return send(view.value);
  };
  const texts = Object.entries(FORMS).map(
    ([name, { ending, as, description, answer, type, pieces, querystring }]): [string, Route] => [
      `GET /${kind}/:id/${name}`,
      {
        summary: `${summary} ${as}`,
        description,
        params,
        schema: { querystring },
        handle: (request, reply) =>
          answered(request, reply, ending, (view) => {
            const { inconclusive } = request.query as { inconclusive?: Inconclusive };
            return sendText(reply, type, pieces([view], inconclusive));
          }),
        response: { 200: file(type, answer), ...failures(404) },
      },
    ],
  );
  const json: Route = {
    summary: `${summary} JSON`,
    description: 'As `modbus-sim` writes it with `--json`.',
    params,
    handle: (request, reply) =>
      answered(request, reply, 'json', (view) => {
        const json = kind === 'tests' ? testJsonByStep(view) : examinationJsonByCheck(view);
        const parts = Object.entries(json).map(([key, member]) => [
          key,
          isGenerator(member) ? oneByOne(member) : member,
        ]);
        return sendJson(reply, Object.fromEntries(parts));
      }),
    response: { 200: kind === 'tests' ? testReport : examinationReport, ...failures(404) },
  };
  return { ...Object.fromEntries(texts), [`GET /${kind}/:id/report.json`]: json };
}

/** Sends a run with its whole report. @param summary what a list shows of it */
export async function sendRun(
  desk: Desk,
  kind: Kind,
  request: FastifyRequest,
  reply: FastifyReply,
  summary: (run: Run) => object,
): Promise<never> {
  const { id } = request.params as { id: string };
  const run = await desk.door.call(`${kind}.get`, { id: Number(id) });
  const view = run.ok ? await reportView(desk, kind, Number(id)) : run;
  if (!view.ok || !run.ok) return refuse(request, reply, view as never);
  const { findings, ...report } = view.value;
  const pieces = { ...report, findings: oneByOne(findings.values()) };
  return sendJson(reply, { ...summary(run.value), report: pieces });
}

/** A report with everything that is known by now. Frames are decoded when they are asked for. */
async function reportView({ door, traffic }: Desk, kind: Kind, id: number): Promise<Outcome<ReportView>> {
  const run = await door.call(`${kind}.get`, { id });
  if (!run.ok) return run;
  const findings = await allParts<PackedFinding>(await door.list(`${kind}.findings`, { id }));
  if ('ok' in findings) return findings;
  const report = {
    ...run.value.report,
    configuration: await configurationText(door),
    findings: findings.map(({ packedFrames, ...head }) => ({
      ...head,
      get frames() {
        return unpackEvents(packedFrames);
      },
    })),
  };
  return { ok: true, value: viewOnDemand(report, (seq) => traffic.read(seq)) };
}

async function configurationText(door: Desk['door']): Promise<string> {
  const came = await door.list('program.configuration', undefined);
  let text = '';
  for await (const parts of came.ok ? came.value : []) {
    text += parts.join('');
    if (text.length > LONGEST_CONFIGURATION)
      return `${text.slice(0, LONGEST_CONFIGURATION)}\n# The rest is left out.\n`;
  }
  return text;
}

async function* oneByOne<Each>(list: Iterable<Each>): AsyncGenerator<readonly Each[]> {
  for (const each of list) yield [each];
}

function isGenerator(value: unknown): value is Iterable<FindingView> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && !Array.isArray(value);
}
