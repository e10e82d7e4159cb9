import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { trafficFileSchema } from '../../config/native/schema.js';
import { trafficFile } from '../../config/native/traffic.js';
import type { Simulator } from '../../simulator/simulator.js';
import { errorBody, errorSchema } from './problem.js';

const viewSchema = z.object({
  writing: z.boolean(),
  /** The directory. */
  file: z.string().optional(),
  format: z.enum(['ndjson', 'pcapng']).optional(),
  rotate: z.object({ size: z.number(), files: z.number() }).optional(),
  /** Path of the file that is written at the moment; null while there is none. */
  path: z.string().nullable().optional(),
  /** Why nothing is written at the moment; null while it is. */
  problem: z.string().nullable().optional(),
  /** Events that were not written, because they came faster than the disk took them. */
  missed: z.number().optional(),
});

/** `/api/v1/traffic/file`: traffic is written to disk, or not. */
export function trafficFileRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  const { trafficFiles, directory } = simulator;
  return (app, _, done) => {
    app.get('/traffic/file', { schema: { response: { 200: viewSchema } } }, () => view(simulator));

    app.put(
      '/traffic/file',
      {
        schema: {
          body: trafficFileSchema,
          response: { 200: viewSchema, 400: errorSchema, 409: errorSchema },
        },
      },
      async ({ body }, reply) => {
        const problem = await trafficFiles.start(trafficFile(body, directory));
        if (problem === undefined) return view(simulator);
        return reply.code(409).send(errorBody([{ path: 'file', message: problem }]));
      },
    );

    app.delete('/traffic/file', { schema: { response: { 200: viewSchema } } }, async () => {
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
