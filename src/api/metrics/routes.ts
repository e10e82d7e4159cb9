import type { FastifyPluginCallback } from 'fastify';
import { AggregatorRegistry, Registry } from 'prom-client';
import type { Simulator } from '../../simulator/simulator.js';
import { EventLoopLag } from './event-loop-lag.js';
import { simulatorFamilies } from './families.js';
import type { Family } from './family.js';

/**
 * `/metrics`, for Prometheus.
 * @param takeTurn resolves when the lines have been served, and the next metric may be made
 */
export function metricsRoutes(simulator: Simulator, takeTurn: () => Promise<void>): FastifyPluginCallback {
  return (app, _, done) => {
    const lag = new EventLoopLag();
    app.addHook('onClose', async () => lag.stop());
    app.get('/metrics', async (_, reply) => {
      let text = await textOf(lag.family());
      for (const family of simulatorFamilies(simulator)) {
        await takeTurn();
        text += await textOf(family);
      }
      return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(text);
    });
    done();
  };
}

/** The counts live in the lines, so prom-client takes each metric as it takes those of other processes. */
async function textOf(family: Family): Promise<string> {
  return `${await AggregatorRegistry.aggregate([[family]]).getSingleMetricAsString(family.name)}\n`;
}
