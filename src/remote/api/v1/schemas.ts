import { z } from 'zod';
import { editorSchema } from '../../../common/schema/editor-schema.js';
import type { JsonSchema } from '../../../common/schema/written-as.js';
import { ruleSchema } from '../../../device/faults/rule.js';
import { SIGNAL_KINDS } from '../../../device/signals/kinds.js';
import { LINE_SCHEMAS } from '../../../document/native/line-schema.js';
import { refusal } from '../../../simulator/commands/refusal.js';
import { failures } from '../../../simulator/commands/schemas/problem.js';
import { kindSchema } from '../../../simulator/commands/schemas/value.js';
import { clientOrderSchema, fuzzOrderSchema, serverOrderSchema } from '../../../testing/order-schemas.js';
import { JSON_TYPE, refuse } from '../answers.js';
import { madeOnce } from '../made.js';
import { Components } from '../schema-json.js';
import type { Route, Routes } from './route.js';

/** The schemas that forms are built from. */
const SCHEMAS = {
  'fault-rule': madeOnce('fault-rule.json', () => convert(ruleSchema)),
  client: madeOnce('client.json', () => convert(clientOrderSchema)),
  fuzz: madeOnce('fuzz.json', () => convert(fuzzOrderSchema)),
  server: madeOnce('server.json', () => convert(serverOrderSchema)),
  line: madeOnce('line.json', () => convert(z.object(LINE_SCHEMAS))),
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
    components: z
      .object({ schemas: z.record(z.string(), z.unknown()) })
      .describe('The schemas that `$ref` refers to.'),
  })
  .describe('A schema with everything it refers to.');

/** A schema as this interface serves it, with the components it refers to. */
export interface ServedSchema {
  readonly schema: JsonSchema;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** The schemas of whole files, for editors, as JSON. The code that makes them is loaded only if there is no build. */
export const EDITOR_SCHEMAS = {
  configuration: madeOnce('configuration.json', async () => {
    const { fileSections } = await import('../../../document/native/schema.js');
    return editorSchema('configuration', fileSections);
  }),
  scenario: madeOnce('scenario.json', async () => {
    const { PARAMETER, scenarioSchema } = await import('../../../testing/scenario/schema.js');
    return editorSchema('scenario', scenarioSchema, PARAMETER);
  }),
  catalogue: madeOnce('catalogue.json', async () => {
    const { catalogueEntrySchema } = await import('../../../document/catalogue.js');
    return editorSchema('catalogue', catalogueEntrySchema);
  }),
} as const;

const editorRoute = (name: keyof typeof EDITOR_SCHEMAS): Route => ({
  summary: `Get the schema of a ${name} file`,
  description:
    'JSON Schema, draft 07, of the whole file, for editors: `# yaml-language-server: $schema=URL` in its first line. `modbus-sim schema` prints the same.',
  handle: async (_, reply) => reply.type(JSON_TYPE).send(await EDITOR_SCHEMAS[name]()),
  response: { 200: z.record(z.string(), z.unknown()).describe('JSON Schema, draft 07.') },
});

/** `/api/v1/schemas`: the schemas of files for editors, and of bodies for building forms. */
export const SCHEMA_ROUTES: Routes = {
  'GET /schemas/configuration': editorRoute('configuration'),
  'GET /schemas/scenario': editorRoute('scenario'),
  'GET /schemas/catalogue': editorRoute('catalogue'),
  'GET /schemas/:name': {
    summary: 'Get the schema of a request or response body',
    description: 'The same schema as in `openapi.json`, on its own, to build a form from.',
    params,
    handle: async (request, reply) => {
      const { name } = request.params as z.infer<typeof params>;
      if (isKnown(name)) return reply.type(JSON_TYPE).send(await SCHEMAS[name]());
      const message = `no schema ${name}, expected one of ${Object.keys(SCHEMAS).join(', ')}`;
      return refuse(request, reply, refusal('path.unknown', 'name', message));
    },
    response: { 200: schemaAnswer, ...failures(404) },
  },
};

function convert(schema: z.ZodType): ServedSchema {
  const components = new Components();
  const converted = components.convert(schema, 'input');
  return { schema: converted, components: { schemas: components.schemas } };
}

const kindList = z.object({ kinds: z.array(kindSchema) }).describe('The kinds of signals.');

const kinds = madeOnce('signals.json', () => {
  const components = new Components();
  return {
    kinds: SIGNAL_KINDS.map(({ name, value, schema }) => ({
      name,
      value,
      schema: { ...components.convert(schema, 'input') },
    })),
  };
});

/** `/api/v1/signals`: the kinds of signals, for building forms. */
export const SIGNAL_KIND_ROUTES: Routes = {
  'GET /signals': {
    summary: 'List the kinds of signals',
    description: 'Every kind with the JSON Schema of its parameters, to build a form from.',
    handle: async (_, reply) => reply.type(JSON_TYPE).send(await kinds()),
    response: { 200: kindList },
  },
};
