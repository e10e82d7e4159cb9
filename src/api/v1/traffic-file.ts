import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { trafficFileSchema } from '../../config/native/schema.js';
import { trafficFile } from '../../config/native/traffic.js';
import { refusal } from '../../control/refusal.js';
import { whyNotIn } from '../../control/remote-files.js';
import { TRAFFIC_FILE } from '../../control/schemas/examples.js';
import { refuse } from '../answers.js';
import type { Desk } from '../desk.js';
import { errorSchema } from '../problem.js';

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
export function trafficFileRoutes({ files, writesIn }: Desk): FastifyPluginCallbackZod {
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
      () => view(files),
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
      async (request, reply) => {
        const { body } = request;
        const outside = await whyNotIn(writesIn, body.file);
        if (outside !== undefined) return refuse(request, reply, refusal('file.outside', 'file', outside));
        const problem = await files.start(trafficFile(body, writesIn));
        return problem === undefined
          ? view(files)
          : refuse(request, reply, refusal('file.refused', 'file', problem));
      },
    );

    const stopping = {
      summary: 'Stop writing traffic to disk',
      description: 'What is left is written before the answer comes. Files stay.',
      tags: ['traffic'],
      response: { 200: viewSchema },
    };
    app.delete('/traffic/file', { schema: stopping }, async () => {
      await files.stop();
      return view(files);
    });
    done();
  };
}

function view({ status }: Desk['files']): z.infer<typeof viewSchema> {
  if (!status) return { writing: false };
  const { definition, path = null, problem = null, missed } = status;
  const { directory, format, size, files } = definition;
  return { writing: true, file: directory, format, rotate: { size, files }, path, problem, missed };
}
