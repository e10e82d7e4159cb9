import { z } from 'zod';

const connectionSchema = z.object({
  connected: z.boolean(),
  reason: z.string().nullable().describe('Why the bench is not connected.'),
  since: z.string().describe('When the connection was made or lost, ISO 8601.'),
  sent: z.number().describe('Messages that the broker has acknowledged.'),
  received: z.number().describe('Messages received from the broker.'),
  waiting: z.number().describe('Messages waiting for the broker.'),
  lost: z.number().describe('Messages dropped because too many were waiting.'),
});

const sparkplugSchema = connectionSchema.extend({
  group: z.string(),
  node: z.string(),
  refused: z.number().describe('Command metrics and payloads that were refused.'),
});

/** The connection of a Sparkplug B edge node to its broker. */
export type SparkplugStatus = z.infer<typeof sparkplugSchema>;

/** The connection of the bench to its broker. */
export const statusSchema = z
  .object({
    topic: z.string().describe('The prefix of its topics.'),
    ...connectionSchema.shape,
    unreadable: z.number().describe('Payloads for signals that contained no number.'),
    missed: z.number().describe('Traffic events that arrived too fast to be read.'),
    sparkplug: sparkplugSchema
      .optional()
      .describe('The connection of the Sparkplug B edge node; absent without Sparkplug B.'),
  })
  .meta({
    id: 'Bench',
    description: 'The state of the connection to the broker.',
    examples: [
      {
        topic: 'modbus-sim/bench-7',
        connected: true,
        reason: null,
        since: '2026-11-24T09:30:00.000Z',
        sent: 120,
        received: 8,
        waiting: 0,
        lost: 0,
        unreadable: 0,
        missed: 0,
      },
    ],
  });

export type MqttStatus = z.infer<typeof statusSchema>;

/** A bench on the same broker. */
export const seenSchema = z
  .object({
    topic: z.string().describe('The prefix of its topics.'),
    isOwn: z.boolean().describe('Whether the entry is this bench.'),
    state: z.string().describe('`online` or `offline`.'),
    version: z.string().nullable(),
    since: z.string().nullable().describe('When the bench was started, ISO 8601.'),
    labels: z.record(z.string(), z.string()),
    lines: z.number(),
    openLines: z.number(),
    rules: z.array(z.string()).describe('The names of the fault rules, at most 50.'),
    running: z.array(z.string()).describe('The names of the unfinished runs.'),
    rates: z
      .object({ requests: z.number(), faults: z.number() })
      .nullable()
      .describe('Requests and fault actions per second; null until the bench has published them.'),
    rest: z.string().nullable().describe('The address of the console.'),
  })
  .meta({
    id: 'SeenBench',
    description: 'A bench on the same broker, with the state that it published.',
    examples: [
      {
        topic: 'modbus-sim/bench-8',
        isOwn: false,
        state: 'online',
        version: '1.0.0',
        since: '2026-11-24T09:30:00.000Z',
        labels: { rack: '3' },
        lines: 2,
        openLines: 2,
        rules: ['slow'],
        running: [],
        rates: { requests: 42.5, faults: 0.2 },
        rest: 'http://192.168.1.8:8080',
      },
    ],
  });

export type SeenBench = z.infer<typeof seenSchema>;
