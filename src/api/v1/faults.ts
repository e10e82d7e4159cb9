import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { lineProblems } from '../../faults/line-problems.js';
import { type FaultRule, ruleSchema } from '../../faults/rule.js';
import { TOO_MANY_RULES } from '../../faults/rules.js';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import { isMapping } from '../../schema/parts.js';
import type { Simulator } from '../../simulator/simulator.js';
import { type ErrorBody, errorBody, errorSchema, issuesBody } from './problem.js';
import { ruleView, ruleViewSchema } from './rule-view.js';

const ruleName = z.object({ name: z.string() });
const ruleList = z.object({ faults: z.array(ruleViewSchema) });

/** `/api/v1/faults`: the fault rules, in the order in which they act. */
export function faultRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  const { rules } = simulator.faults;
  const list = () => ({ faults: rules.list().map(ruleView) });
  const tooMany = errorBody([{ path: '', message: TOO_MANY_RULES }]);
  const unknownRule = (name: string) => errorBody([{ path: 'name', message: `no rule ${name}` }]);

  return (app, _, done) => {
    app.get('/faults', { schema: { response: { 200: ruleList } } }, list);

    app.post(
      '/faults',
      { schema: { response: { 201: ruleViewSchema, 400: errorSchema } } },
      async (request, reply) => {
        const parsed = parseRule(simulator, request.body);
        if (!parsed.ok) return reply.code(400).send(parsed.body);
        const { name } = parsed.rule;
        if (rules.has(name)) {
          return reply
            .code(400)
            .send(errorBody([{ path: 'name', message: `there is a rule ${name} already; PUT replaces it` }]));
        }
        if (!rules.hasRoomFor(name)) return reply.code(400).send(tooMany);
        return reply.code(201).send(ruleView(rules.set(parsed.rule)));
      },
    );

    app.post('/faults/reset', { schema: { response: { 200: ruleList } } }, () => {
      simulator.faults.reset();
      return list();
    });

    app.get(
      '/faults/:name',
      { schema: { params: ruleName, response: { 200: ruleViewSchema, 404: errorSchema } } },
      async (request, reply) => {
        const { name } = request.params;
        const status = rules.get(name);
        return status ? ruleView(status) : reply.code(404).send(unknownRule(name));
      },
    );

    app.put(
      '/faults/:name',
      { schema: { params: ruleName, response: { 200: ruleViewSchema, 400: errorSchema } } },
      async (request, reply) => {
        const { name } = request.params;
        const parsed = parseRule(simulator, withName(request.body, name));
        if (!parsed.ok) return reply.code(400).send(parsed.body);
        if (parsed.rule.name !== name) {
          return reply
            .code(400)
            .send(errorBody([{ path: 'name', message: `expected ${name}, as in the address` }]));
        }
        if (!rules.hasRoomFor(name)) return reply.code(400).send(tooMany);
        return ruleView(rules.set(parsed.rule));
      },
    );

    app.delete(
      '/faults/:name',
      { schema: { params: ruleName, response: { 204: z.null(), 404: errorSchema } } },
      async (request, reply) => {
        const { name } = request.params;
        return rules.remove(name) ? reply.code(204).send(null) : reply.code(404).send(unknownRule(name));
      },
    );
    done();
  };
}

/** The name of a PUT may stand in the address alone. */
function withName(body: unknown, name: string): unknown {
  return isMapping(body) ? { name, ...body } : body;
}

type ParsedRule =
  | { readonly ok: true; readonly rule: FaultRule }
  | { readonly ok: false; readonly body: ErrorBody };

/** A rule that can act on every line it aims at, or everything that is wrong with it. */
function parseRule(simulator: Simulator, body: unknown): ParsedRule {
  const findings = new Findings();
  const at = new At(body, findings);
  const rule = at.check(ruleSchema);
  for (const { path, message } of rule ? lineProblems(rule, simulator.faultLines) : []) {
    at.below(path).wrong(message);
  }
  return rule && findings.count === 0 ? { ok: true, rule } : { ok: false, body: issuesBody(findings) };
}
