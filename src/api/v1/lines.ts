import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { isMapping } from '../../schema/parts.js';
import { expectedMessage, quote } from '../../schema/problem.js';
import type { Line, LineOutcome } from '../../simulator/line.js';
import type { LineChange, Simulator } from '../../simulator/simulator.js';
import { lineView, lineViewSchema } from './line-view.js';
import { type ErrorBody, errorBody, errorSchema, issuesBody } from './problem.js';

const lineName = z.object({ name: z.string() });

/** What POST /lines/{name}/{command} does; an open line that is started stays as it is. */
const COMMANDS: Readonly<Record<string, (line: Line) => Promise<LineOutcome>>> = {
  start: (line) => line.start(),
  restart: (line) => line.restart(),
  stop: async (line) => {
    await line.stop();
    return { ok: true };
  },
};

/** `/api/v1/lines`: how the lines are, and what they are to be. */
export function lineRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  const unknownLine = (name: string) => errorBody([{ path: 'name', message: `no line ${quote(name)}` }]);

  return (app, _, done) => {
    app.get(
      '/lines',
      { schema: { response: { 200: z.object({ lines: z.array(lineViewSchema) }) } } },
      () => ({
        lines: Array.from(simulator.lines.values(), lineView),
      }),
    );

    app.get(
      '/lines/:name',
      { schema: { params: lineName, response: { 200: lineViewSchema, 404: errorSchema } } },
      async ({ params: { name } }, reply) => {
        const line = simulator.lines.get(name);
        return line ? lineView(line) : reply.code(404).send(unknownLine(name));
      },
    );

    app.put(
      '/lines/:name',
      {
        schema: {
          params: lineName,
          response: { 200: lineViewSchema, 400: errorSchema, 404: errorSchema, 409: errorSchema },
        },
      },
      async ({ params: { name }, body }, reply) => {
        const line = simulator.lines.get(name);
        if (!line) return reply.code(404).send(unknownLine(name));
        if (!isMapping(body)) {
          const message = expectedMessage(
            'settings of the line, such as {"serial": {"baudRate": 9600}}',
            body,
          );
          return reply.code(400).send(errorBody([{ path: '', message }]));
        }
        const changed = await simulator.changeLine(line, body);
        if (changed.ok) return lineView(line);
        return 'issues' in changed
          ? reply.code(400).send(issuesBody(changed.issues))
          : reply.code(409).send(refused(changed));
      },
    );

    for (const [command, carryOut] of Object.entries(COMMANDS)) {
      app.post(
        `/lines/:name/${command}`,
        {
          schema: { params: lineName, response: { 200: lineViewSchema, 404: errorSchema, 409: errorSchema } },
        },
        async ({ params: { name } }, reply) => {
          const line = simulator.lines.get(name);
          if (!line) return reply.code(404).send(unknownLine(name));
          const outcome = await carryOut(line);
          return outcome.ok ? lineView(line) : reply.code(409).send(refused(outcome));
        },
      );
    }
    done();
  };
}

/** The port, or the system, said no. */
function refused({ error }: Extract<LineChange, { error: string }>): ErrorBody {
  return errorBody([{ path: '', message: error }]);
}
