import { z } from 'zod';
import { DIRECTIONS, EVENT_KINDS } from './event.js';
import { replySchema } from './reply-view.js';

const { omittedBytes, ...replyFields } = replySchema;

/** A traffic event. Keys that this kind of event does not have are absent; `null` means not known. */
export const trafficViewSchema = z
  .object({
    seq: z.number(),
    line: z.string(),
    kind: z.enum(EVENT_KINDS),
    direction: z
      .enum(DIRECTIONS)
      .describe('`in`: bytes that were received. `out`: a reply. `none`: no bytes.'),
    time: z
      .string()
      .describe(
        'ISO 8601 with µs. For received bytes, the time of the last byte; for a reply, of the first.',
      ),
    monotonicUs: z
      .number()
      .describe('The same moment in µs since the program started. It never jumps, unlike the wall clock.'),
    startedUs: z
      .number()
      .optional()
      .describe('For received bytes: when the first one arrived, by the clock of `monotonicUs`.'),
    pauseUs: z.number().nullable().optional().describe('Silence on the line before the first byte.'),
    pauseCharacters: z
      .number()
      .nullable()
      .optional()
      .describe('The same in characters of the line; absent on lines without character times.'),
    bytes: z.string().optional().describe('Hexadecimal: the bytes received, or the bytes actually sent.'),
    omittedBytes: omittedBytes.optional(),
    unit: z.number().optional(),
    function: z.number().optional().describe('Without the exception flag.'),
    name: z.string().optional(),
    address: z.number().optional(),
    quantity: z.number().optional(),
    values: z.array(z.number()).optional(),
    names: z.array(z.string()).optional().describe('The names of the registers: `meter.voltage`.'),
    exception: z.number().optional(),
    text: z.string(),
    written: z
      .object({
        table: z.enum(['coils', 'holding']),
        address: z.number(),
        values: z.array(z.number()).optional(),
      })
      .optional()
      .describe('For a reply that confirms a write: the values written.'),
    client: z.string().optional().describe('The client at the other end of a socket.'),
    host: z
      .string()
      .optional()
      .describe('The local address that the client connected to, on a line with several.'),
    test: z.number().optional().describe('For a test on the line: its number.'),
    request: z
      .number()
      .optional()
      .describe('For a response: sequence number of the request that it answers.'),
    requestedUs: z
      .number()
      .optional()
      .describe('For a reply: when the last byte of the request was read, by the clock of `monotonicUs`.'),
    responseTimeUs: z
      .number()
      .nullable()
      .optional()
      .describe('From the last byte of the request to the first of the response.'),
    ...z.object(replyFields).partial().shape,
  })
  .meta({
    id: 'Event',
    description: 'A traffic event. Keys that this kind of event does not have are absent.',
  });

export type TrafficView = Readonly<z.infer<typeof trafficViewSchema>>;

/** Placeholder for events that were dropped before they could be sent. */
const leftOutSchema = z.object({ kind: z.literal('left out'), count: z.number(), text: z.string() }).meta({
  id: 'LeftOut',
  description: 'Replaces events that were dropped before they could be sent.',
  examples: [{ kind: 'left out', count: 1240, text: '1,240 left out' }],
});

/** A message in a stream of traffic. */
export const streamedViewSchema = z.union([trafficViewSchema, leftOutSchema]);

export type StreamedView = z.infer<typeof streamedViewSchema>;

export type LeftOut = z.infer<typeof leftOutSchema>;

/** Reports missing events: `1,240 left out`. */
export function leftOut(count: number): LeftOut {
  return { kind: 'left out', count, text: `${count.toLocaleString('en')} left out` };
}
