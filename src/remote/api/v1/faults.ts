import { z } from 'zod';
import { isMapping } from '../../../common/schema/parts.js';
import { ruleSchema } from '../../../device/faults/rule.js';
import { done, refusal } from '../../../simulator/commands/refusal.js';
import {
  previewBody,
  previewSchema,
  RULE,
  ruleViewSchema,
} from '../../../simulator/commands/schemas/fault.js';
import { failures } from '../problem.js';
import type { Routes } from './route.js';

const params = z.object({
  name: z.string().meta({ description: 'Name of the rule.', examples: ['slow'] }),
});
const ruleList = z
  .object({ faults: z.array(ruleViewSchema) })
  .describe('The rules, in the order in which they act.');
/** The body of a rule. The command reads the rule as it was written. */
const ruleBody = { checkedBody: ruleSchema.meta({ examples: [RULE] }) };

/** `/api/v1/faults`: the fault rules, in the order in which they act. */
export const FAULT_ROUTES: Routes = {
  'GET /faults': {
    summary: 'List the fault rules',
    description: 'In the order in which they act, with how often each has acted.',
    list: 'rule.list',
    as: 'faults',
    response: { 200: ruleList },
  },
  'POST /faults': {
    summary: 'Add a fault rule',
    description: 'It acts after the rules that are there. docs/faults.md explains conditions and faults.',
    call: 'rule.add',
    schema: ruleBody,
    response: { 201: ruleViewSchema, ...failures(400, 409) },
  },
  'POST /faults/reset': {
    summary: 'Reset the fault rules',
    description:
      'The rules of the configuration are in force again, all others are gone, and counts begin anew.',
    call: 'rule.reset',
    list: 'rule.list',
    as: 'faults',
    response: { 200: ruleList },
  },
  'POST /faults/preview': {
    summary: 'Preview a fault rule',
    description:
      'Plays the rule on the reply to one request, as on its first hit, without other rules. Nothing is sent, executed or counted.',
    call: 'rule.preview',
    schema: { checkedBody: previewBody },
    response: { 200: previewSchema, ...failures(400) },
  },
  'GET /faults/:name': {
    summary: 'Get a fault rule',
    description: 'The rule as it was written, and how often it has acted.',
    call: 'rule.get',
    params,
    response: { 200: ruleViewSchema, ...failures(404) },
  },
  'PUT /faults/:name': {
    summary: 'Set a fault rule',
    description: 'Adds the rule, or replaces the one of this name, whose count begins anew.',
    call: 'rule.replace',
    params,
    schema: ruleBody,
    // The name may be in the address alone.
    preValidation: async (request) => {
      if (isMapping(request.body)) request.body = { ...(request.params as object), ...request.body };
    },
    input: ({ params, body }) => {
      const { name } = params as { readonly name: string };
      return (body as { readonly name: string }).name === name
        ? done({ rule: body })
        : refusal('rule.invalid', 'name', `expected ${name}, as in the address`);
    },
    response: { 200: ruleViewSchema, ...failures(400, 409) },
  },
  'PATCH /faults/:name': {
    summary: 'Switch a fault rule on or off',
    description:
      'A rule that is off keeps its place and its counts. One that is switched on begins anew: counts and times as after PUT, with the seed that it has.',
    call: 'rule.switch',
    params,
    response: { 200: ruleViewSchema, ...failures(400, 404) },
  },
  'DELETE /faults/:name': {
    summary: 'Remove a fault rule',
    description: 'It does not act on any later reply.',
    call: 'rule.remove',
    params,
    response: { 204: z.null().describe('There is no such rule any more.'), ...failures(404) },
  },
};
