import type { FastifyPluginCallback } from 'fastify';
import { z } from 'zod';
import { allParts } from '../../rpc/rpc.js';
import { refuse, sendText } from '../answers.js';
import type { ApiContext } from '../desk.js';
import { brokerFamilies, simulatorFamilies } from './families.js';
import type { Family } from './family.js';

const metrics = {
  summary: 'Get the metrics',
  description: 'Counts and times of every line, and how busy the program is, for Prometheus.',
  tags: ['program'],
  response: {
    200: { description: 'Metrics in the text format.', content: { 'text/plain': { schema: z.string() } } },
  },
};

/** Serves `/metrics`, for Prometheus. */
export function metricsRoutes(desk: ApiContext): FastifyPluginCallback {
  const { rpc } = desk;
  return (app, _, done) => {
    app.get('/metrics', { schema: metrics }, async (request, reply) => {
      const program = await rpc.call('program.metrics', undefined);
      const lines = await allParts(await rpc.list('line.metrics', undefined));
      if (!program.ok) return refuse(request, reply, program);
      if ('ok' in lines) return refuse(request, reply, lines);
      // Loaded late, because many programs that run have no Prometheus.
      const { AggregatorRegistry, Registry } = await import('prom-client');
      // The counts live in another thread, so prom-client takes the metrics as it takes those of other
      // processes.
      const textOf = (family: Family) =>
        AggregatorRegistry.aggregate([[family]]).getSingleMetricAsString(family.name);
      const families = function* () {
        yield* simulatorFamilies(lines, program.value);
        if (desk.mqtt) yield* brokerFamilies(desk.mqtt.status);
      };
      return sendText(reply, Registry.PROMETHEUS_CONTENT_TYPE, writtenIn(families(), textOf));
    });
    done();
  };
}

/** How many values are written without a pause. A bench of 64 lines may have 250,000. */
const PIECE = 500;

/** Writes families one after the other, in pieces. Only the first piece of a family has its two head lines. */
async function* writtenIn(
  families: Iterable<Family>,
  textOf: (family: Family) => Promise<string>,
): AsyncGenerator<string> {
  for (const family of families) {
    for (let i = 0; i === 0 || i < family.values.length; i += PIECE) {
      const text = await textOf({ ...family, values: family.values.slice(i, i + PIECE) });
      yield `${i === 0 ? text : text.split('\n').slice(2).join('\n')}\n`;
    }
  }
}
