import type { FastifyPluginCallback } from 'fastify';
import { AggregatorRegistry, Registry } from 'prom-client';
import { z } from 'zod';
import { allParts } from '../../door/door.js';
import { refuse } from '../answers.js';
import type { Desk } from '../desk.js';
import { simulatorFamilies } from './families.js';
import type { Family } from './family.js';

const metrics = {
  summary: 'Get the metrics',
  description: 'Counts and times of every line, and how busy the program is, for Prometheus.',
  tags: ['program'],
  response: {
    200: { description: 'Metrics in the text format.', content: { 'text/plain': { schema: z.string() } } },
  },
};

/** `/metrics`, for Prometheus. */
export function metricsRoutes({ door }: Desk): FastifyPluginCallback {
  return (app, _, done) => {
    app.get('/metrics', { schema: metrics }, async (request, reply) => {
      const program = await door.call('program.metrics', undefined);
      const lines = await allParts(await door.list('line.metrics', undefined));
      if (!program.ok) return refuse(request, reply, program);
      if ('ok' in lines) return refuse(request, reply, lines);
      const texts = await Promise.all(Array.from(simulatorFamilies(lines, program.value), textOf));
      return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(texts.join(''));
    });
    done();
  };
}

/** The counts live in the lines, so prom-client takes each metric as it takes those of other processes. */
async function textOf(family: Family): Promise<string> {
  return `${await AggregatorRegistry.aggregate([[family]]).getSingleMetricAsString(family.name)}\n`;
}
