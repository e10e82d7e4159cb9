import { z } from 'zod';

/** How the bench is on its broker. */
export const benchSchema = z
  .object({
    topic: z.string().describe('What its topics begin with.'),
    connected: z.boolean(),
    reason: z.string().nullable().describe('Why it is not connected.'),
    since: z.string().describe('Since when it is as it is, ISO 8601.'),
    waiting: z.number().describe('Messages that wait for the broker.'),
    lost: z.number().describe('Messages that were given up, because too many waited.'),
    unreadable: z.number().describe('Payloads for signals from which no number could be read.'),
    missed: z.number().describe('Events of the traffic that came too fast to be looked at.'),
  })
  .meta({
    id: 'Bench',
    description: 'How the bench is on its broker.',
    examples: [
      {
        topic: 'modbus-sim/bench-7',
        connected: true,
        reason: null,
        since: '2026-11-24T09:30:00.000Z',
        waiting: 0,
        lost: 0,
        unreadable: 0,
        missed: 0,
      },
    ],
  });

export type BenchStatus = z.infer<typeof benchSchema>;
