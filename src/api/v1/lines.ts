import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Simulator } from '../../simulator/simulator.js';

const lineView = z.object({
  name: z.string(),
  /** Unit identifiers with the names of their devices. */
  units: z.record(z.string(), z.string()),
  /** What has passed over the line since the start. */
  counters: z.object({
    requests: z.number(),
    broadcasts: z.number(),
    /** Requests that came while a reply was pending and were not executed. */
    dropped: z.number(),
    replies: z.number(),
    /** Responses of another device that has one of our unit identifiers. */
    duplicates: z.number(),
    /** Replies during which somebody else spoke. */
    collisions: z.number(),
    /** Frames between others. */
    foreignFrames: z.number(),
    /** Bytes that were no part of a valid frame. */
    noiseBytes: z.number(),
  }),
});

/** `/api/v1/lines`: the lines with what has passed over them. */
export function lineRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  return (app, _, done) => {
    app.get('/lines', { schema: { response: { 200: z.object({ lines: z.array(lineView) }) } } }, () => ({
      lines: Array.from(simulator.lines.values(), ({ name, bus, counters }) => ({
        name,
        units: Object.fromEntries(bus.units),
        counters,
      })),
    }));
    done();
  };
}
