import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { trafficFileSchema } from '../../config/native/schema.js';
import { trafficFile } from '../../config/native/traffic.js';
import type { Simulator } from '../../simulator/simulator.js';
import { TRAFFIC_FILE } from './examples.js';
import { errorBody, errorSchema } from './problem.js';
import { whyNotIn } from './writable-place.js';

const viewSchema = z
  .object({
    writing: z.boolean(),
    file: z.string().optional().describe('The directory.'),
    format: z.enum(['ndjson', 'pcapng']).optional(),
    rotate: z.object({ size: z.number(), files: z.number() }).optional(),
    path: z
      .string()
      .nullable()
      .optional()
      .describe('Path of the file that is written at the moment; null while there is none.'),
    problem: z
      .string()
      .nullable()
      .optional()
      .describe('Why nothing is written at the moment; null while it is.'),
    missed: z
      .number()
      .optional()
      .describe('Events that were not written, because they came faster than the disk took them.'),
  })
  .meta({ id: 'TrafficFile', description: 'Whether traffic is written to disk.', examples: [TRAFFIC_FILE] });

const fileBody = trafficFileSchema.meta({ examples: [{ file: 'traffic', format: 'ndjson' }] });

/** `/api/v1/traffic/file`: traffic is written to disk, or not. */
export function trafficFileRoutes(simulator: Simulator, writesIn: string): FastifyPluginCallbackZod {
  const { trafficFiles } = simulator;
  return (app, _, done) => {
    app.get(
      '/traffic/file',
      {
        schema: {
          summary: 'Get whether traffic is written to disk',
          description: 'Where it is written, and what was missed.',
          tags: ['traffic'],
          response: { 200: viewSchema },
        },
      },
      () => view(simulator),
    );

    app.put(
      '/traffic/file',
      {
        schema: {
          summary: 'Write traffic to disk',
          description:
            'Events from now on are written to files in a directory, the oldest of which are removed. It is in the directory where REST may write.',
          tags: ['traffic'],
          body: fileBody,
          response: { 200: viewSchema, 400: errorSchema, 409: errorSchema },
        },
      },
      async ({ body }, reply) => {
        const message = await whyNotIn(writesIn, body.file);
        if (message !== undefined) return reply.code(400).send(errorBody([{ path: 'file', message }]));
        const problem = await trafficFiles.start(trafficFile(body, writesIn));
        if (problem === undefined) return view(simulator);
        return reply.code(409).send(errorBody([{ path: 'file', message: problem }]));
      },
    );

    const stopping = {
      summary: 'Stop writing traffic to disk',
      description: 'What is left is written before the answer comes. Files stay.',
      tags: ['traffic'],
      response: { 200: viewSchema },
    };
    app.delete('/traffic/file', { schema: stopping }, async () => {
      await trafficFiles.stop();
      return view(simulator);
    });
    done();
  };
}

function view({ trafficFiles: { status } }: Simulator): z.infer<typeof viewSchema> {
  if (!status) return { writing: false };
  const { definition, path = null, problem = null, missed } = status;
  const { directory, format, size, files } = definition;
  return { writing: true, file: directory, format, rotate: { size, files }, path, problem, missed };
}
