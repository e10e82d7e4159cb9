import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type FaultRule, lineProblems, resolveNames, ruleSchema } from '../../faults/rule.js';
import { TOO_MANY_RULES } from '../../faults/rules.js';
import { Findings } from '../../schema/findings.js';
import { flag, isMapping, section } from '../../schema/parts.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { LongAnswers } from '../long-answers.js';
import { RULE } from './examples.js';
import { type ErrorBody, errorBody, errorSchema, issuesBody } from './problem.js';
import { ruleView, ruleViewSchema } from './rule-view.js';

const ruleName = z.object({
  name: z.string().meta({ description: 'Name of the rule.', examples: ['slow'] }),
});
const ruleList = z
  .object({ faults: z.array(ruleViewSchema) })
  .describe('The rules, in the order in which they act.');
const switchBody = section({ enabled: flag }).meta({ examples: [{ enabled: false }] });
const ruleBody = ruleSchema.meta({ examples: [RULE] });

/** `/api/v1/faults`: the fault rules, in the order in which they act. */
export function faultRoutes(simulator: Simulator, answers: LongAnswers): FastifyPluginCallbackZod {
  const { rules } = simulator.faults;
  const list = () => ({ faults: ruleViews(simulator) });
  const unknownRule = (name: string) => errorBody([{ path: 'name', message: `no rule ${name}` }]);

  return (app, _, done) => {
    const accept = (rule: FaultRule) => {
      const view = ruleView(rules.set(rule), simulator.lines.values());
      for (const warning of view.warnings ?? []) app.log.warn({ rule: rule.name }, warning);
      return view;
    };

    app.get(
      '/faults',
      {
        schema: {
          summary: 'List the fault rules',
          description: 'In the order in which they act, with how often each has acted.',
          tags: ['faults'],
          response: { 200: ruleList },
        },
      },
      async (_, reply) => answers.send(reply, list()),
    );

    app.post(
      '/faults',
      {
        schema: {
          summary: 'Add a fault rule',
          description:
            'It acts after the rules that are there. docs/faults.md explains conditions and faults.',
          tags: ['faults'],
          body: ruleBody,
          response: { 201: ruleViewSchema, 400: errorSchema },
        },
      },
      async ({ body: rule }, reply) => {
        const checked = checkRule(rule, simulator, takenName(rule, simulator));
        return checked.ok
          ? reply.code(201).send(accept(checked.rule))
          : reply.code(400).send(checked.refusal);
      },
    );

    const resetting = {
      summary: 'Reset the fault rules',
      description:
        'The rules of the configuration are in force again, all others are gone, and counts begin anew.',
      tags: ['faults'],
      response: { 200: ruleList },
    };
    app.post('/faults/reset', { schema: resetting }, async (_, reply) => {
      simulator.faults.reset(simulator.findValue);
      return answers.send(reply, list());
    });

    app.get(
      '/faults/:name',
      {
        schema: {
          summary: 'Get a fault rule',
          description: 'The rule as it was written, and how often it has acted.',
          tags: ['faults'],
          params: ruleName,
          response: { 200: ruleViewSchema, 404: errorSchema },
        },
      },
      async ({ params: { name } }, reply) => {
        const status = rules.get(name);
        return status ? ruleView(status, simulator.lines.values()) : reply.code(404).send(unknownRule(name));
      },
    );

    app.put(
      '/faults/:name',
      {
        schema: {
          summary: 'Set a fault rule',
          description: 'Adds the rule, or replaces the one of this name, whose count begins anew.',
          tags: ['faults'],
          params: ruleName,
          body: ruleBody,
          response: { 200: ruleViewSchema, 400: errorSchema },
        },
        // The name may stand in the address alone.
        preValidation: async (request) => {
          if (isMapping(request.body)) request.body = { ...request.params, ...request.body } as never;
        },
      },
      async ({ params: { name }, body: rule }, reply) => {
        const checked = checkRule(rule, simulator, otherName(rule, name));
        return checked.ok ? accept(checked.rule) : reply.code(400).send(checked.refusal);
      },
    );

    app.patch(
      '/faults/:name',
      {
        schema: {
          summary: 'Switch a fault rule on or off',
          description:
            'A rule that is off keeps its place and its counts. One that is switched on begins anew: counts and times as after PUT, with the seed that it has.',
          tags: ['faults'],
          params: ruleName,
          body: switchBody,
          response: { 200: ruleViewSchema, 400: errorSchema, 404: errorSchema },
        },
      },
      async ({ params: { name }, body: { enabled } }, reply) => {
        rules.switch(name, enabled);
        const status = rules.get(name);
        return status ? ruleView(status, simulator.lines.values()) : reply.code(404).send(unknownRule(name));
      },
    );

    app.delete(
      '/faults/:name',
      {
        schema: {
          summary: 'Remove a fault rule',
          description: 'It does not act on any later reply.',
          tags: ['faults'],
          params: ruleName,
          response: { 204: z.null().describe('There is no such rule any more.'), 404: errorSchema },
        },
      },
      async ({ params: { name } }, reply) =>
        rules.remove(name) ? reply.code(204).send(null) : reply.code(404).send(unknownRule(name)),
    );
    done();
  };
}

function* ruleViews({ faults, lines }: Simulator): Generator<ReturnType<typeof ruleView>> {
  for (const status of faults.rules.list()) yield ruleView(status, lines.values());
}

type CheckedRule =
  | { readonly ok: true; readonly rule: FaultRule }
  | { readonly ok: false; readonly refusal: ErrorBody };

/**
 * The rule as it can be put to use, or why it can't.
 * @param wrongName what is wrong with the rule's name
 */
function checkRule(
  rule: FaultRule,
  { faults, faultLines, findValue }: Simulator,
  wrongName: ErrorBody | undefined,
): CheckedRule {
  const resolved = resolveNames(rule, findValue);
  const findings = new Findings();
  for (const issue of lineProblems(rule, faultLines)) findings.add(() => issue);
  if (!resolved.ok) findings.add(() => resolved.issue);
  if (!resolved.ok || findings.count > 0) return { ok: false, refusal: issuesBody(findings) };
  if (!faults.rules.hasRoomFor(rule.name)) {
    return { ok: false, refusal: errorBody([{ path: '', message: TOO_MANY_RULES }]) };
  }
  return wrongName ? { ok: false, refusal: wrongName } : resolved;
}

function takenName({ name }: FaultRule, { faults }: Simulator): ErrorBody | undefined {
  const message = `there is a rule ${name} already; PUT replaces it`;
  return faults.rules.has(name) ? errorBody([{ path: 'name', message }]) : undefined;
}

function otherName(rule: FaultRule, name: string): ErrorBody | undefined {
  const message = `expected ${name}, as in the address`;
  return rule.name === name ? undefined : errorBody([{ path: 'name', message }]);
}
