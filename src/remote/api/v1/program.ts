import { z } from 'zod';
import { ruleSchema } from '../../../device/faults/rule.js';
import { LINE_SCHEMAS } from '../../../files/config/native/line-schema.js';
import { refusal } from '../../../simulator/commands/refusal.js';
import { seenSchema, statusSchema } from '../../../simulator/commands/schemas/mqtt.js';
import { failures } from '../../../simulator/commands/schemas/problem.js';
import type { PortView } from '../../../simulator/commands/schemas/program.js';
import { type PortStatus, portStatuses } from '../../../simulator/ports.js';
import { orderSchema } from '../../../testing/examination-order-schema.js';
import { inspectionOrderSchema } from '../../../testing/inspection-order-schema.js';
import { JSON_TYPE, refuse, sendText } from '../answers.js';
import type { ApiContext } from '../desk.js';
import { madeOnce } from '../made.js';
import { Components, type JsonSchema } from '../schema-json.js';
import type { DeskPart, Routes } from './route.js';

/** The schemas from which forms are made. */
const SCHEMAS = {
  'fault-rule': madeOnce('fault-rule.json', () => convert(ruleSchema)),
  examination: madeOnce('examination.json', () => convert(orderSchema)),
  inspection: madeOnce('inspection.json', () => convert(inspectionOrderSchema)),
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
    components: z.object({ schemas: z.record(z.string(), z.unknown()) }).describe('What `$ref` refers to.'),
  })
  .describe('A schema with all that it refers to.');

/** A schema as this interface serves it, with the components that it refers to. */
export interface ServedSchema {
  readonly schema: JsonSchema;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** The configuration is sent as the text that it is. */
export function configurationPart(desk: ApiContext): DeskPart {
  return {
    handle: async (request, reply) => {
      const text = await desk.rpc.list('program.configuration', undefined);
      if (!text.ok) return refuse(request, reply, text);
      return sendText(reply, 'application/yaml; charset=utf-8', joined(text.value));
    },
  };
}

/** The ports of this machine, which the desk looks for, and which lines use them. */
export const PORTS_PART: DeskPart = {
  show: async (used: Parameters<typeof portStatuses>[0]) => (await portStatuses(used)).map(viewPort),
};

/** `/api/v1/mqtt`: the broker of the bench. */
export function mqttRoutes(desk: ApiContext): Routes {
  return {
    'GET /mqtt': {
      summary: 'Get how the bench is on its broker',
      description:
        'Whether the MQTT broker of the configuration is there, and what was lost. Null without one.',
      handle: async () => ({ mqtt: desk.mqtt?.status ?? null }),
      response: { 200: z.object({ mqtt: statusSchema.nullable() }).describe('The broker, or null.') },
    },
    'GET /mqtt/benches': {
      summary: 'List the benches on the broker',
      description:
        'Those whose topics are beside that of this bench, as far as the broker lets it read them. They are listened to while somebody asks, so the first answer may be empty; ask again after a second. Null without a broker.',
      handle: async () => ({ benches: desk.mqtt?.benches ?? null }),
      response: {
        200: z.object({ benches: z.array(seenSchema).nullable() }).describe('The benches, or null.'),
      },
    },
  };
}

/** `/api/v1/schemas`: the schemas of bodies for those who make forms. */
export const SCHEMA_ROUTES: Routes = {
  'GET /schemas/:name': {
    summary: 'Get the schema of a body',
    description: 'The same as in `openapi.json`, and alone: a form can be made of it.',
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

async function* joined(texts: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const parts of texts) yield parts.join('');
}

function convert(schema: z.ZodType): ServedSchema {
  const components = new Components();
  const converted = components.convert(schema, 'input');
  return { schema: converted, components: { schemas: components.schemas } };
}

function viewPort({ path, stableNames, adapter, hints, usb, lines }: PortStatus): PortView {
  return {
    path,
    stableNames: [...stableNames],
    adapter,
    hints: [...hints],
    usb: usb
      ? {
          vendorId: usb.vendorId,
          productId: usb.productId,
          manufacturer: usb.manufacturer ?? null,
          product: usb.product ?? null,
          serialNumber: usb.serialNumber ?? null,
        }
      : null,
    lines: [...lines],
  };
}
