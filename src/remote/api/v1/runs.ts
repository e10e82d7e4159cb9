import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Run } from '../../../testing/commands.js';
import type { detailQuery } from '../../../testing/declared.js';
import { refuse, sendJson } from '../answers.js';
import type { ApiContext } from '../desk.js';
import { oneByOne, type RunKind, reportView } from './reports.js';
import type { DeskPart } from './route.js';

/** @param summary makes what is shown of a run without its report */
export function listPart(summary: (run: Run) => object): DeskPart {
  return { show: (runs: readonly Run[]) => runs.map(summary) };
}

/** A run with its report, which the desk makes. */
export function readPart(desk: ApiContext, one: RunKind['one'], summary: (run: Run) => object): DeskPart {
  return {
    handle: async (request: FastifyRequest, reply: FastifyReply) => {
      const run = await desk.rpc.call(`${one}.get`, { id: Number((request.params as { id: string }).id) });
      if (!run.ok) return refuse(request, reply, run);
      if ((request.query as z.infer<typeof detailQuery>).report === 'false') return summary(run.value);
      const view = await reportView(desk, one, run.value, reply);
      if (!view.ok) return refuse(request, reply, view);
      const { findings, ...report } = view.value;
      const pieces = { ...report, findings: oneByOne(findings.values()) };
      return sendJson(reply, { ...summary(run.value), report: pieces });
    },
  };
}
