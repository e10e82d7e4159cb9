import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Run } from '../../../testing/commands.js';
import { refuse, sendJson } from '../answers.js';
import type { ApiContext } from '../desk.js';
import { failures } from '../problem.js';
import { oneByOne, type RunKind, reportRoutes, reportView } from './reports.js';
import type { Routes } from './route.js';

const detailQuery = z.strictObject({
  report: z
    .enum(['true', 'false'])
    .optional()
    .describe('With `false`, the report is left out, which is short enough to be asked for often.'),
});

/** The routes of tests, or of examinations. */
export function runRoutes(desk: ApiContext, kind: RunKind): Routes {
  const { one, called, fields, about, example, summary, known, start } = kind;
  const all = `${one}s` as const;
  const id = one === 'test' ? 'Test' : 'Examination';
  const summarySchema = z.object(fields).meta({ id, description: about, examples: [example] });
  const whole = z
    .object({
      ...fields,
      report: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('Findings with their frames, the configuration and the versions.'),
    })
    .meta({
      id: `${id}Report`,
      description: `${called.replace('a', 'A')} with its report.`,
      examples: [{ ...example, report: { kind: one, name: example.name, findings: [] } }],
    });
  const params = z.object({
    id: z.string().meta({
      description: `The number of the ${one}. Tests and examinations are counted together.`,
      examples: [kind.number],
    }),
  });
  const list = z.array(summarySchema);
  const stopQuery = z.strictObject({
    failure: z.string().min(1).max(4096).optional().describe(kind.failure),
  });
  return {
    [`GET /${all}`]: {
      summary: `List the ${all}`,
      description: 'Those that run and the newest that are over.',
      call: `${one}.list`,
      show: (runs: readonly Run[]) => ({ [all]: runs.map(summary) }),
      response: { 200: z.object({ [all]: list }).describe(`The ${all}, the newest twenty of them.`) },
    },
    [`POST /${all}`]: { ...start, response: { 201: summarySchema, ...failures(400, 409) } },
    [`GET /${all}/:id`]: {
      summary: `Read ${called}`,
      description: known,
      params,
      schema: { querystring: detailQuery },
      handle: async (request: FastifyRequest, reply: FastifyReply) => {
        const run = await desk.rpc.call(`${one}.get`, { id: Number((request.params as { id: string }).id) });
        if (!run.ok) return refuse(request, reply, run);
        if ((request.query as z.infer<typeof detailQuery>).report === 'false') return summary(run.value);
        const view = await reportView(desk, one, run.value);
        if (!view.ok) return refuse(request, reply, view);
        const { findings, ...report } = view.value;
        const pieces = { ...report, findings: oneByOne(findings.values()) };
        return sendJson(reply, { ...summary(run.value), report: pieces });
      },
      response: { 200: whole, ...failures(400, 404) },
    },
    [`DELETE /${all}/:id`]: {
      summary: `Stop ${called}`,
      description: 'Its faults are removed. What it has found stays readable.',
      call: `${one}.stop`,
      params,
      schema: { querystring: stopQuery },
      response: { 204: z.null().describe('It is over.'), ...failures(400, 404) },
    },
    ...reportRoutes(desk, kind, params),
  } satisfies Routes;
}
