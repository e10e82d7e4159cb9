import { z } from 'zod';
import { section, text, wholeNumber } from '../../../common/schema/parts.js';
import { ruleSchema } from '../../../device/faults/rule.js';
import { replySchema } from '../../traffic/reply-view.js';

/** A rule for examples. */
export const RULE = { name: 'slow', when: { unit: 1, function: 3, count: 2 }, do: [{ delay: 250 }], seed: 7 };

const MOST_ASKED = 2000;

const madeUpRequest = section({
  line: text('the name of a line').optional().describe('Default: the first line.'),
  unit: wholeNumber(0, 255, 'a unit identifier').optional().describe('Default: the first unit of the line.'),
  function: wholeNumber(1, 127, 'a function code').default(3),
  address: wholeNumber(0, 0xffff, 'an address').default(0),
  quantity: wholeNumber(1, MOST_ASKED, 'a quantity').default(1),
});

export const previewBody = section({
  rule: ruleSchema,
  like: z
    .union([wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a sequence number'), madeUpRequest], {
      error:
        'the sequence number of a request in the traffic, or a request as {line, unit, function, address, quantity}',
    })
    .optional()
    .describe(
      'The sequence number of a request in the traffic or of its reply, or a made-up request. Without it, the newest request that matches the rule, among the newest 256 events; if there is none, a request made from its conditions.',
    ),
}).meta({ examples: [{ rule: RULE, like: { function: 3, address: 0, quantity: 2 } }] });

const { silence, faults, omittedFaults, omittedSteps, omittedBytes } = replySchema;

export const previewSchema = z
  .object({
    matches: z
      .boolean()
      .describe('True if the rule matches this request. If false, the steps show the unchanged reply.'),
    seed: z.number().describe('The seed of the random parts that are shown.'),
    request: z.object({
      line: z.string(),
      unit: z.number(),
      function: z.number(),
      bytes: z.string().describe('The whole frame in hexadecimal.'),
      seq: z
        .number()
        .nullable()
        .describe('The sequence number of the request in the traffic; null when it is made up.'),
    }),
    characterUs: z
      .number()
      .nullable()
      .describe('Time of a character; null on lines without character times.'),
    t35Us: z.number().nullable(),
    silence,
    faults,
    omittedFaults,
    steps: z
      .array(
        z.object({
          kind: z.enum(['bytes', 'break', 'close']),
          bytes: z.string().optional().describe('Hexadecimal.'),
          plannedUs: z.number(),
          endedUs: z.number(),
        }),
      )
      .describe('Times are in µs since the last byte of the request.'),
    omittedSteps,
    omittedBytes,
  })
  .meta({
    id: 'FaultPreview',
    description: 'How a rule would change the reply to a request.',
  });

export type FaultPreviewView = z.infer<typeof previewSchema>;
