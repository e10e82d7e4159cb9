import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { lineProblems, resolveNames, ruleSchema } from '../../faults/rule.js';
import { hex } from '../../protocol/bytes.js';
import { Findings } from '../../schema/findings.js';
import { section, text, wholeNumber } from '../../schema/parts.js';
import { type FaultPreview, previewFault } from '../../simulator/fault-preview.js';
import { type LikeRequest, likeEvent, likeMadeUp } from '../../simulator/like-request.js';
import type { Simulator } from '../../simulator/simulator.js';
import { replyView } from '../../traffic/reply-view.js';
import { micros } from '../../traffic/time.js';
import { PREVIEW, RULE } from './examples.js';
import { replySchema } from './exchange-view.js';
import { errorSchema, issuesBody } from './problem.js';

const MOST_ASKED = 2000;

const madeUpRequest = section({
  line: text('the name of a line').optional().describe('The first line without it.'),
  unit: wholeNumber(0, 255, 'a unit identifier')
    .optional()
    .describe('The first unit of the line without it.'),
  function: wholeNumber(1, 127, 'a function code').default(3),
  address: wholeNumber(0, 0xffff, 'an address').default(0),
  quantity: wholeNumber(1, MOST_ASKED, 'a quantity').default(1),
});

const previewBody = section({
  rule: ruleSchema,
  like: z
    .union([wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a sequence number'), madeUpRequest], {
      error:
        'the sequence number of a request in the traffic, or a request as {line, unit, function, address, quantity}',
    })
    .default({ function: 3, address: 0, quantity: 1 })
    .describe(
      'The sequence number of a request in the traffic or of its reply, or a request that is made up.',
    ),
}).meta({ examples: [{ rule: RULE, like: { function: 3, address: 0, quantity: 2 } }] });

const { silence, faults, omittedFaults, omittedSteps, omittedBytes } = replySchema;

const previewSchema = z
  .object({
    matches: z
      .boolean()
      .describe('Whether the rule is for this request. If not, the steps are those of the reply without it.'),
    seed: z.number().describe('The seed of the random parts that are shown.'),
    request: z.object({
      line: z.string(),
      unit: z.number(),
      function: z.number(),
      bytes: z.string().describe('The whole frame, hexadecimal.'),
    }),
    characterUs: z.number().nullable().describe('Time of a character; null where characters take no time.'),
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
    description: 'What a rule would make of the reply to a request.',
    examples: [PREVIEW],
  });

export type FaultPreviewView = z.infer<typeof previewSchema>;

/** `/api/v1/faults/preview`: what a rule would do, before it is in force. */
export function faultPreviewRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  return (app, _, done) => {
    app.post(
      '/faults/preview',
      {
        schema: {
          summary: 'Preview a fault rule',
          description:
            'Plays the rule on the reply to one request, as on its first hit, without other rules. Nothing is sent, executed or counted.',
          tags: ['faults'],
          body: previewBody,
          response: { 200: previewSchema, 400: errorSchema },
        },
      },
      async ({ body: { rule, like: wanted } }, reply) => {
        const findings = new Findings();
        const like =
          typeof wanted === 'number' ? likeEvent(simulator, wanted) : likeMadeUp(simulator, wanted);
        if (typeof like === 'string') findings.add(() => ({ path: ['like'], message: like }));
        const resolved = resolveNames(rule, simulator.findValue);
        const wrong = lineProblems(rule, simulator.faultLines);
        for (const issue of resolved.ok ? wrong : [...wrong, resolved.issue]) {
          findings.add(() => ({ ...issue, path: ['rule', ...issue.path] }));
        }
        if (typeof like === 'string' || !resolved.ok || findings.count > 0) {
          return reply.code(400).send(issuesBody(findings));
        }
        return previewView(previewFault(resolved.rule, like), like);
      },
    );
    done();
  };
}

function previewView(
  { matches, seed, plan, acted, steps: times, wire }: FaultPreview,
  { line, unitId, transactionId, pdu }: LikeRequest,
): FaultPreviewView {
  const report = { steps: times, ended: 'complete' } as const;
  const { ended: _, steps, ...view } = replyView({ plan, acted, omittedFaults: 0, report, requestedAt: 0 });
  return {
    matches,
    seed,
    request: {
      line: line.name,
      unit: unitId,
      function: pdu[0] as number,
      bytes: hex(line.bus.framing.encode({ transactionId, unitId, pdu })),
    },
    characterUs: wire ? micros(wire.characterTime) : null,
    t35Us: wire ? micros(wire.t35) : null,
    ...view,
    steps: steps.map(({ kind, bytes, plannedUs, endedUs }) => ({
      kind,
      ...(bytes !== undefined && { bytes }),
      plannedUs,
      endedUs: endedUs ?? plannedUs,
    })),
  };
}
