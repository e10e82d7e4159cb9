import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ruleSchema } from '../../faults/rule.js';
import { orderSchema } from '../../testing/examine/order-schema.js';
import { JSON_TYPE, madeOnce } from '../openapi/made.js';
import { Components, type JsonSchema } from '../openapi/schema-json.js';
import { errorBody, errorSchema } from './problem.js';

/** What forms are made for. */
const SCHEMAS = {
  'fault-rule': madeOnce('fault-rule.json', () => convert(ruleSchema)),
  examination: madeOnce('examination.json', () => convert(orderSchema)),
} as const;

const isKnown = (name: string): name is keyof typeof SCHEMAS => Object.hasOwn(SCHEMAS, name);

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
export function schemaRoutes(): FastifyPluginCallbackZod {
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
        if (!isKnown(name)) {
          const message = `no schema ${name}, expected one of ${Object.keys(SCHEMAS).join(', ')}`;
          return reply.code(404).send(errorBody([{ path: 'name', message }]));
        }
        return reply.type(JSON_TYPE).send((await SCHEMAS[name]()) as never);
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
