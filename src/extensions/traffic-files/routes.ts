import { z } from 'zod';
import { trafficFile, trafficFileSchema } from '../../document/native/schema.js';
import { refuse } from '../../remote/api/answers.js';
import type { Routes } from '../../remote/api/v1/route.js';
import { refusal } from '../../simulator/commands/refusal.js';
import { whyNotIn } from '../../simulator/commands/remote-files.js';
import { failures } from '../../simulator/commands/schemas/problem.js';
import type { TrafficFiles } from './traffic-files.js';

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
      .describe('Path of the file that is being written; null while there is none.'),
    problem: z
      .string()
      .nullable()
      .optional()
      .describe('Why nothing is being written; null while traffic is being written.'),
    missed: z
      .number()
      .optional()
      .describe('Events that were not written, because they arrived faster than the disk could store them.'),
  })
  .meta({ id: 'TrafficFile', description: 'Whether traffic is written to disk.' });

const fileBody = trafficFileSchema.meta({ examples: [{ file: 'traffic', format: 'ndjson' }] });

/** `/api/v1/traffic/file`: starts and stops writing traffic to disk. */
export function trafficFileRoutes(files: TrafficFiles, writesIn: string): Routes {
  return {
    'GET /traffic/file': {
      summary: 'Get whether traffic is written to disk',
      description: 'Where the file is, and what could not be written.',
      handle: async () => view(files),
      response: { 200: viewSchema },
    },
    'PUT /traffic/file': {
      summary: 'Write traffic to disk',
      description:
        'Writes new events to files in a directory inside the one that REST may write to. If there are too many files, the oldest are removed.',
      schema: { body: fileBody },
      handle: async (request, reply) => {
        const body = request.body as z.infer<typeof fileBody>;
        const outside = await whyNotIn(writesIn, body.file);
        if (outside !== undefined) return refuse(request, reply, refusal('file.outside', 'file', outside));
        const problem = await files.start(trafficFile(body, writesIn));
        return problem === undefined
          ? view(files)
          : refuse(request, reply, refusal('file.refused', 'file', problem));
      },
      response: { 200: viewSchema, ...failures(400, 409) },
    },
    'DELETE /traffic/file': {
      summary: 'Stop writing traffic to disk',
      description: 'Pending traffic is written before the answer is sent. The files are kept.',
      handle: async () => {
        await files.stop();
        return view(files);
      },
      response: { 200: viewSchema },
    },
  };
}

function view({ status }: TrafficFiles): z.infer<typeof viewSchema> {
  if (!status) return { writing: false };
  const { definition, path = null, problem = null, missed } = status;
  const { directory, format, size, files } = definition;
  return { writing: true, file: directory, format, rotate: { size, files }, path, problem, missed };
}
