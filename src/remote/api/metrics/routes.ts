import type { FastifyPluginCallback } from 'fastify';
import { z } from 'zod';
import { allParts } from '../../rpc/rpc.js';
import { refuse } from '../answers.js';
import type { ApiContext } from '../desk.js';
import { brokerFamilies, simulatorFamilies } from './families.js';

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
      const families = [
        ...simulatorFamilies(lines, program.value),
        ...(desk.mqtt ? brokerFamilies(desk.mqtt.status) : []),
      ];
      const texts = families.map((family) =>
        AggregatorRegistry.aggregate([[family]]).getSingleMetricAsString(family.name),
      );
      const written = (await Promise.all(texts)).map((text) => `${text}\n`);
      return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(written.join(''));
    });
    done();
  };
}
