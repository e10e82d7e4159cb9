import type { FastifyReply } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Simulator } from '../../simulator/simulator.js';
import { examinationJsonByCheck, examinationSchema } from '../../testing/report/examination-json.js';
import { htmlPieces } from '../../testing/report/html.js';
import { junitPieces } from '../../testing/report/junit.js';
import type { Report } from '../../testing/report/report.js';
import { testJsonByStep } from '../../testing/report/test-json.js';
import { type FindingView as Finding, viewOnDemand } from '../../testing/report/view.js';
import type { LongAnswers } from '../long-answers.js';
import { EXAMINATION, REPORT } from './examples.js';
import { errorBody, errorSchema } from './problem.js';

/** A finding as the `report` of a run has it. */
export type FindingView = Finding;

/** Where the reports come from. */
interface Reports {
  readonly simulator: Simulator;
  readonly answers: LongAnswers;
  readonly get: (id: number) => { readonly report: Report } | undefined;
}

const HTML = 'text/html; charset=utf-8';
const XML = 'application/xml; charset=utf-8';

/** A report has its styles in itself. It may do nothing else, wherever it is opened. */
const REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

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

/** `report.html`, `junit.xml` and `report.json` of tests or examinations. Of one that runs, what is known by now. */
export function reportRoutes(
  kind: 'tests' | 'examinations',
  { simulator, answers, get }: Reports,
): FastifyPluginCallbackZod {
  const one = kind === 'tests' ? 'test' : 'examination';
  const params = z.object({
    id: z
      .string()
      .meta({ description: `The number of the ${one}.`, examples: [kind === 'tests' ? '1' : '2'] }),
  });
  const viewOf = (report: Report) => viewOnDemand(report, (seq) => simulator.traffic.read(seq));
  const unknown = (id: string) => errorBody([{ path: 'id', message: `no ${one} ${id}` }]);
  /** Browsers store the file instead of showing it. */
  const asFile = (reply: FastifyReply, id: string, ending: string) =>
    reply
      .header('content-disposition', `attachment; filename="${one}-${Number(id)}.${ending}"`)
      .header('content-security-policy', REPORT_POLICY);

  return (app, _, done) => {
    app.get(
      `/${kind}/:id/report.html`,
      {
        schema: {
          summary: `Get the report on ${one === 'test' ? 'a test' : 'an examination'} as HTML`,
          description:
            'One page that needs nothing from the network. Of one that runs, what is known by now.',
          tags: ['tests'],
          params,
          response: { 200: file(HTML, 'A page.'), 404: errorSchema },
        },
      },
      async ({ params: { id } }, reply) => {
        const found = get(Number(id));
        if (!found) return reply.code(404).send(unknown(id));
        const view = viewOf(found.report);
        return answers.sendText(asFile(reply, id, 'html') as never, HTML, htmlPieces([view]));
      },
    );

    app.get(
      `/${kind}/:id/junit.xml`,
      {
        schema: {
          summary: `Get the report on ${one === 'test' ? 'a test' : 'an examination'} as JUnit XML`,
          description: 'For CI systems: a case for each step or check.',
          tags: ['tests'],
          params,
          response: { 200: file(XML, 'A suite.'), 404: errorSchema },
        },
      },
      async ({ params: { id } }, reply) => {
        const found = get(Number(id));
        if (!found) return reply.code(404).send(unknown(id));
        const view = viewOf(found.report);
        return answers.sendText(asFile(reply, id, 'xml') as never, XML, junitPieces([view]));
      },
    );

    app.get(
      `/${kind}/:id/report.json`,
      {
        schema: {
          summary: `Get the report on ${one === 'test' ? 'a test' : 'an examination'} as JSON`,
          description: 'As `modbus-sim` writes it with `--json`.',
          tags: ['tests'],
          params,
          response: { 200: kind === 'tests' ? testReport : examinationReport, 404: errorSchema },
        },
      },
      async ({ params: { id } }, reply) => {
        const found = get(Number(id));
        if (!found) return reply.code(404).send(unknown(id));
        const view = viewOf(found.report);
        const json = kind === 'tests' ? testJsonByStep(view) : examinationJsonByCheck(view);
        return answers.send(asFile(reply, id, 'json') as never, json);
      },
    );
    done();
  };
}
