import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ruleSchema } from '../../faults/rule.js';
import { orderSchema } from '../../testing/examine/read-order.js';
import type { LongAnswers } from '../long-answers.js';
import { Components, type JsonSchema } from '../openapi/schema-json.js';
import { errorBody, errorSchema } from './problem.js';

/** What forms are made for. */
const SCHEMAS: Readonly<Record<string, z.ZodType>> = { 'fault-rule': ruleSchema, examination: orderSchema };

const params = z.object({
  name: z.string().meta({
    description: `One of ${Object.keys(SCHEMAS).join(', ')}.`,
    examples: Object.keys(SCHEMAS),
  }),
});

const schemaAnswer = z
  .object({
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema (2020-12).'),
    components: z.object({ schemas: z.record(z.string(), z.unknown()) }).describe('What `$ref` refers to.'),
  })
  .describe('A schema with all that it refers to.');

/** A schema as this interface tells it, with what it refers to. */
export interface ToldSchema {
  readonly schema: JsonSchema;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** `/api/v1/schemas`: what bodies look like, for programs that make forms. */
export function schemaRoutes(answers: LongAnswers): FastifyPluginCallbackZod {
  const made = new Map<string, ToldSchema>();

  return (app, _, done) => {
    app.get(
      '/schemas/:name',
      {
        schema: {
          summary: 'Get the schema of a body',
          description: 'The same as in `openapi.json`, and alone: a form can be made of it.',
          tags: ['program'],
          params,
          response: { 200: schemaAnswer, 404: errorSchema },
        },
      },
      async ({ params: { name } }, reply) => {
        const schema = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
        if (!schema) {
          const message = `no schema ${name}, expected one of ${Object.keys(SCHEMAS).join(', ')}`;
          return reply.code(404).send(errorBody([{ path: 'name', message }]));
        }
        const told = made.get(name) ?? convert(schema);
        made.set(name, told);
        return answers.send(reply, told);
      },
    );
    done();
  };
}

function convert(schema: z.ZodType): ToldSchema {
  const components = new Components();
  const converted = components.convert(schema, 'input');
  return { schema: converted, components: { schemas: components.schemas } };
}
