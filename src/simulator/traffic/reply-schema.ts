import { z } from 'zod';

/** One step of a reply. Times are in µs since the last byte of the request was received. */
const stepSchema = z.object({
  kind: z.enum(['bytes', 'break', 'close']),
  bytes: z.string().optional().describe('Hexadecimal bytes of a `bytes` step.'),
  plannedUs: z.number(),
  achievedUs: z.number().nullable(),
  endedUs: z
    .number()
    .nullable()
    .describe('When its last character had left, or its break had ended, if it began at `achievedUs`.'),
  uncertaintyUs: z
    .number()
    .nullable()
    .describe(
      'The true moment is between `achievedUs` and this many µs later; null when nothing is known about the port.',
    ),
  outcome: z.enum(['achieved', 'not achieved']),
  reason: z.string().optional(),
});

/** The outcome of a reply. */
export const replySchema = {
  silence: z.string().nullable().describe('Why nothing was sent; null when a reply was sent.'),
  faults: z
    .array(
      z.object({
        rule: z.string(),
        kind: z.string(),
        outcome: z.enum(['applied', 'not achieved']),
        reason: z.string().optional(),
      }),
    )
    .describe('The faults that were to act on the reply, in order.'),
  omittedFaults: z.number().describe('Faults that are not shown: those between the 63rd and the last one.'),
  steps: z.array(stepSchema),
  omittedSteps: z.number().describe('Steps that are not shown: those after the 64th.'),
  omittedBytes: z.number().describe('Bytes omitted from the shown steps: those after the 1024th.'),
  ended: z
    .enum(['complete', 'not sent', 'superseded', 'disconnected'])
    .describe('`not sent`: the plan was played to its end, but no byte of it was sent.'),
};

export type ReplyView = Readonly<z.infer<z.ZodObject<typeof replySchema>>>;
