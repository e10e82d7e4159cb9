import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { lineName, lineSettings, lineViewSchema, newLine } from '../../control/schemas/line.js';
import { refuse, send, sendJson } from '../answers.js';
import type { Desk } from '../desk.js';
import { errorSchema } from '../problem.js';

const lineList = z.object({ lines: z.array(lineViewSchema) }).describe('The lines.');

const leavingLine = z.object({
  name: z.string().meta({ description: 'Name of the line.', examples: ['old-lan'] }),
});

/** What the document says about POST /lines/{name}/{command}. */
const COMMANDS = {
  start: { summary: 'Open a line', description: 'A line that is open stays as it is.' },
  restart: {
    summary: 'Close a line and open it again',
    description: 'Registers stay. Certificates are read anew.',
  },
  stop: { summary: 'Close a line', description: 'Replies that wait are given up.' },
} as const;

/** `/api/v1/lines`: how the lines are, and what they are to be. */
export function lineRoutes({ door }: Desk): FastifyPluginCallbackZod {
  const shared = { tags: ['lines'] };

  return (app, _, done) => {
    app.get(
      '/lines',
      {
        schema: {
          ...shared,
          summary: 'List the lines',
          description:
            'Every line: whether it is open, its settings, its counters and what is known of its port.',
          response: { 200: lineList },
        },
      },
      async (request, reply) => {
        const lines = await door.list('line.list', undefined);
        return lines.ok ? sendJson(reply, { lines: lines.value }) : refuse(request, reply, lines);
      },
    );

    app.get(
      '/lines/:name',
      {
        schema: {
          ...shared,
          summary: 'Get a line',
          description: 'Whether it is open, its settings, its counters and what is known of its port.',
          params: lineName,
          response: { 200: lineViewSchema, 404: errorSchema },
        },
      },
      (request, reply) => send(request, reply, door.call('line.get', { line: request.params.name })),
    );

    app.post(
      '/lines',
      {
        schema: {
          ...shared,
          summary: 'Add a line',
          description: 'It is opened at once. When that fails, there is no new line.',
          body: newLine,
          response: { 201: lineViewSchema, 400: errorSchema, 409: errorSchema },
        },
      },
      (request, reply) => send(request, reply, door.call('line.add', request.body), 201),
    );

    app.put(
      '/lines/:name',
      {
        schema: {
          ...shared,
          summary: 'Change a line while it serves',
          description: 'Registers stay. When the port refuses the new settings, the line stays as it was.',
          params: lineName,
          body: lineSettings,
          response: { 200: lineViewSchema, 400: errorSchema, 404: errorSchema, 409: errorSchema },
        },
      },
      (request, reply) => {
        const { params, body } = request;
        return send(request, reply, door.call('line.change', { line: params.name, settings: body }));
      },
    );

    app.delete(
      '/lines/:name',
      {
        schema: {
          ...shared,
          summary: 'Remove a line',
          description: 'It is closed first. The last line stays.',
          params: leavingLine,
          response: {
            204: z.null().describe('There is no such thing any more.'),
            404: errorSchema,
            409: errorSchema,
          },
        },
      },
      (request, reply) => send(request, reply, door.call('line.remove', { line: request.params.name }), 204),
    );

    for (const command of Object.keys(COMMANDS) as (keyof typeof COMMANDS)[]) {
      app.post(
        `/lines/:name/${command}`,
        {
          schema: {
            ...shared,
            ...COMMANDS[command],
            params: lineName,
            response: { 200: lineViewSchema, 404: errorSchema, 409: errorSchema },
          },
        },
        (request, reply) =>
          send(
            request,
            reply,
            door.call(`line.${command}`, { line: (request.params as { name: string }).name }),
          ),
      );
    }
    done();
  };
}
