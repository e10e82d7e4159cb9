import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { quote } from '../../schema/problem.js';
import type { LineChange } from '../../simulator/changes.js';
import type { Line, LineOutcome } from '../../simulator/line.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { LongAnswers } from '../long-answers.js';
import { unitsWithinReason } from '../units.js';
import { lineView, lineViewSchema } from './line-view.js';
import { type ErrorBody, errorBody, errorSchema, issuesBody } from './problem.js';
import { wrongLink } from './writable-place.js';

const lineName = z.object({ name: z.string().meta({ description: 'Name of the line.', examples: ['lan'] }) });
const lineList = z.object({ lines: z.array(lineViewSchema) }).describe('The lines.');

/** Which settings there are depends on what the line is: the simulator checks them. */
const settingsOfLine = z
  .looseObject(
    { units: unitsWithinReason.optional() },
    { error: 'settings of the line, such as {"serial": {"baudRate": 9600}}' },
  )
  .meta({
    description:
      'Settings of the line as in the configuration. Those that are left out stay; null restores a default.',
    examples: [{ units: { 1: 'meter', 2: 'meter' } }],
  });

/** What the document says about POST /lines/{name}/{command}. */
const DESCRIBED = {
  start: { summary: 'Open a line', description: 'A line that is open stays as it is.' },
  restart: {
    summary: 'Close a line and open it again',
    description: 'Registers stay. Certificates are read anew.',
  },
  stop: { summary: 'Close a line', description: 'Replies that wait are given up.' },
};

type Command = keyof typeof DESCRIBED;

/** The commands of POST /lines/{name}/{command}. Starting an open line changes nothing. */
const COMMANDS: Readonly<Record<Command, (line: Line) => Promise<LineOutcome>>> = {
  start: (line) => line.start(),
  restart: (line) => line.restart(),
  stop: async (line) => {
    await line.stop();
    return { ok: true };
  },
};

/** `/api/v1/lines`: how the lines are, and what they are to be. */
export function lineRoutes(
  simulator: Simulator,
  answers: LongAnswers,
  writesIn: string,
): FastifyPluginCallbackZod {
  const unknownLine = (name: string) => errorBody([{ path: 'name', message: `no line ${quote(name)}` }]);

  return (app, _, done) => {
    app.get(
      '/lines',
      {
        schema: {
          summary: 'List the lines',
          description:
            'Every line: whether it is open, its settings, its counters and what is known of its port.',
          tags: ['lines'],
          response: { 200: lineList },
        },
      },
      async (_, reply) => answers.send(reply, { lines: lineViews(simulator) }),
    );

    app.get(
      '/lines/:name',
      {
        schema: {
          summary: 'Get a line',
          description: 'Whether it is open, its settings, its counters and what is known of its port.',
          tags: ['lines'],
          params: lineName,
          response: { 200: lineViewSchema, 404: errorSchema },
        },
      },
      async ({ params: { name } }, reply) => {
        const line = simulator.lines.get(name);
        return line ? lineView(line) : reply.code(404).send(unknownLine(name));
      },
    );

    app.put(
      '/lines/:name',
      {
        schema: {
          summary: 'Change a line while it serves',
          description: 'Registers stay. When the port refuses the new settings, the line stays as it was.',
          tags: ['lines'],
          params: lineName,
          body: settingsOfLine,
          response: { 200: lineViewSchema, 400: errorSchema, 404: errorSchema, 409: errorSchema },
        },
      },
      async ({ params: { name }, body }, reply) => {
        const line = simulator.lines.get(name);
        if (!line) return reply.code(404).send(unknownLine(name));
        const { definition } = line;
        const wrong = await wrongLink(writesIn, body, 'link' in definition ? definition.link : undefined);
        if (wrong) return reply.code(400).send(wrong);
        const changed = await simulator.changes.changeLine(line, body);
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
          schema: {
            ...DESCRIBED[command as Command],
            tags: ['lines'],
            params: lineName,
            response: { 200: lineViewSchema, 404: errorSchema, 409: errorSchema },
          },
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

function* lineViews({ lines }: Simulator): Generator<ReturnType<typeof lineView>> {
  for (const line of lines.values()) yield lineView(line);
}

/** The answer when the port or the system refused. */
function refused({ error }: Extract<LineChange, { error: string }>): ErrorBody {
  return errorBody([{ path: '', message: error }]);
}
