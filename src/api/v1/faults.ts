import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { refusal } from '../../control/refusal.js';
import { RULE } from '../../control/schemas/examples.js';
import { previewBody, previewSchema, ruleViewSchema } from '../../control/schemas/fault.js';
import { ruleSchema } from '../../faults/rule.js';
import { flag, isMapping, section } from '../../schema/parts.js';
import { refuse, send, sendJson } from '../answers.js';
import type { Desk } from '../desk.js';
import { errorSchema } from '../problem.js';

type WrittenRule = Readonly<Record<string, unknown>>;

const ruleName = z.object({
  name: z.string().meta({ description: 'Name of the rule.', examples: ['slow'] }),
});
const ruleList = z
  .object({ faults: z.array(ruleViewSchema) })
  .describe('The rules, in the order in which they act.');
const switchBody = section({ enabled: flag }).meta({ examples: [{ enabled: false }] });
const ruleBody = ruleSchema.meta({ examples: [RULE] });

/** `/api/v1/faults`: the fault rules, in the order in which they act. */
export function faultRoutes({ door }: Desk): FastifyPluginCallbackZod {
  const shared = { tags: ['faults'] };
  const list = async (request: never, reply: never) => {
    const rules = await door.list('rule.list', undefined);
    return rules.ok ? sendJson(reply, { faults: rules.value }) : refuse(request, reply, rules);
  };

  return (app, _, done) => {
    app.get(
      '/faults',
      {
        schema: {
          ...shared,
          summary: 'List the fault rules',
          description: 'In the order in which they act, with how often each has acted.',
          response: { 200: ruleList },
        },
      },
      (request, reply) => list(request as never, reply as never),
    );

    app.post(
      '/faults',
      {
        schema: {
          ...shared,
          summary: 'Add a fault rule',
          description:
            'It acts after the rules that are there. docs/faults.md explains conditions and faults.',
          checkedBody: ruleBody,
          response: { 201: ruleViewSchema, 400: errorSchema, 409: errorSchema },
        },
      },
      (request, reply) =>
        send(request, reply, door.call('rule.add', { rule: request.body as WrittenRule }), 201),
    );

    app.post(
      '/faults/reset',
      {
        schema: {
          ...shared,
          summary: 'Reset the fault rules',
          description:
            'The rules of the configuration are in force again, all others are gone, and counts begin anew.',
          response: { 200: ruleList },
        },
      },
      async (request, reply) => {
        await door.call('rule.reset', undefined);
        return list(request as never, reply as never);
      },
    );

    app.post(
      '/faults/preview',
      {
        schema: {
          ...shared,
          summary: 'Preview a fault rule',
          description:
            'Plays the rule on the reply to one request, as on its first hit, without other rules. Nothing is sent, executed or counted.',
          checkedBody: previewBody,
          response: { 200: previewSchema, 400: errorSchema },
        },
      },
      (request, reply) => send(request, reply, door.call('rule.preview', request.body as never)),
    );

    app.get(
      '/faults/:name',
      {
        schema: {
          ...shared,
          summary: 'Get a fault rule',
          description: 'The rule as it was written, and how often it has acted.',
          params: ruleName,
          response: { 200: ruleViewSchema, 404: errorSchema },
        },
      },
      (request, reply) => send(request, reply, door.call('rule.get', request.params)),
    );

    app.put(
      '/faults/:name',
      {
        schema: {
          ...shared,
          summary: 'Set a fault rule',
          description: 'Adds the rule, or replaces the one of this name, whose count begins anew.',
          params: ruleName,
          checkedBody: ruleBody,
          response: { 200: ruleViewSchema, 400: errorSchema, 409: errorSchema },
        },
        // The name may stand in the address alone.
        preValidation: async (request) => {
          if (isMapping(request.body)) request.body = { ...request.params, ...request.body } as never;
        },
      },
      async (request, reply) => {
        const { name } = request.params;
        const rule = request.body as WrittenRule;
        return rule.name === name
          ? send(request, reply, door.call('rule.replace', { rule }))
          : refuse(request, reply, refusal('rule.invalid', 'name', `expected ${name}, as in the address`));
      },
    );

    app.patch(
      '/faults/:name',
      {
        schema: {
          ...shared,
          summary: 'Switch a fault rule on or off',
          description:
            'A rule that is off keeps its place and its counts. One that is switched on begins anew: counts and times as after PUT, with the seed that it has.',
          params: ruleName,
          body: switchBody,
          response: { 200: ruleViewSchema, 400: errorSchema, 404: errorSchema },
        },
      },
      (request, reply) =>
        send(request, reply, door.call('rule.switch', { ...request.params, ...request.body })),
    );

    app.delete(
      '/faults/:name',
      {
        schema: {
          ...shared,
          summary: 'Remove a fault rule',
          description: 'It does not act on any later reply.',
          params: ruleName,
          response: { 204: z.null().describe('There is no such rule any more.'), 404: errorSchema },
        },
      },
      (request, reply) => send(request, reply, door.call('rule.remove', request.params), 204),
    );
    done();
  };
}
