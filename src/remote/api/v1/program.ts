import { z } from 'zod';
import { ruleSchema } from '../../../device/faults/rule.js';
import { LINE_SCHEMAS } from '../../../files/config/native/line-schema.js';
import { refusal } from '../../../simulator/commands/refusal.js';
import { seenSchema, statusSchema } from '../../../simulator/commands/schemas/mqtt.js';
import { type PortStatus, portStatuses } from '../../../simulator/ports.js';
import { orderSchema } from '../../../testing/examination-order-schema.js';
import { JSON_TYPE, refuse, sendText } from '../answers.js';
import type { ApiContext } from '../desk.js';
import { madeOnce } from '../made.js';
import { failures } from '../problem.js';
import { Components, type JsonSchema } from '../schema-json.js';
import type { Routes } from './route.js';

const YAML = 'application/yaml';

const configurationAnswer = { description: 'A native file.', content: { [YAML]: { schema: z.string() } } };

const portView = z
  .object({
    path: z.string().describe('This path may change with the next start of the machine.'),
    stableNames: z.array(z.string()).describe('Links in /dev/modbus-sim and /dev/serial that stay the same.'),
    adapter: z.object({
      kind: z.string(),
      name: z.string(),
      fifoCharacters: z.number().describe('Characters of one frame that may lie between two chunks.'),
      latencyMs: z.number().describe('How long a USB adapter may hold bytes back.'),
    }),
    hints: z.array(z.string()),
    usb: z
      .object({
        vendorId: z.string(),
        productId: z.string(),
        manufacturer: z.string().nullable(),
        product: z.string().nullable(),
        serialNumber: z.string().nullable(),
      })
      .nullable()
      .describe(
        'Identifiers of four hexadecimal digits, and what the adapter says of itself; null for what is no USB device.',
      ),
    lines: z.array(z.string()).describe('Lines that are configured for this port.'),
  })
  .meta({
    id: 'Port',
    description: 'A serial port.',
    examples: [
      {
        path: '/dev/ttyUSB0',
        stableNames: ['/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0'],
        adapter: { kind: 'ftdi', name: 'FTDI', fifoCharacters: 62, latencyMs: 1 },
        hints: [],
        usb: {
          vendorId: '0403',
          productId: '6001',
          manufacturer: 'FTDI',
          product: 'FT232R USB UART',
          serialNumber: 'A50285BI',
        },
        lines: ['bench'],
      },
    ],
  });

const portList = z.object({ ports: z.array(portView) }).describe('The serial ports of this machine.');

/** The schemas from which forms are made. */
const SCHEMAS = {
  'fault-rule': madeOnce('fault-rule.json', () => convert(ruleSchema)),
  examination: madeOnce('examination.json', () => convert(orderSchema)),
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

/**
 * Routes about the program: its configuration, the ports of its machine, and the schemas of bodies for those
 * who make forms.
 */
export function programRoutes(desk: ApiContext): Routes {
  return {
    'GET /configuration': {
      summary: 'Get the configuration that is running',
      description: 'A native file that makes what is running now, with all changes since the start.',
      handle: async (request, reply) => {
        const text = await desk.rpc.list('program.configuration', undefined);
        if (!text.ok) return refuse(request, reply, text);
        return sendText(reply, `${YAML}; charset=utf-8`, joined(text.value));
      },
      response: { 200: configurationAnswer },
    },
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
    'GET /ports': {
      summary: 'List the serial ports',
      description:
        'The serial ports of this machine, with names that stay the same, and which lines use them.',
      call: 'program.ports',
      show: async (used: Parameters<typeof portStatuses>[0]) => ({
        ports: (await portStatuses(used)).map(viewPort),
      }),
      response: { 200: portList },
    },
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
}

async function* joined(texts: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const parts of texts) yield parts.join('');
}

function convert(schema: z.ZodType): ServedSchema {
  const components = new Components();
  const converted = components.convert(schema, 'input');
  return { schema: converted, components: { schemas: components.schemas } };
}

function viewPort({ path, stableNames, adapter, hints, usb, lines }: PortStatus): z.infer<typeof portView> {
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
