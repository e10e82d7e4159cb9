import { z } from 'zod';
import { editorLine } from '../../../common/schema/editor-schema.js';
import { statusSchema } from '../../../simulator/commands/schemas/mqtt.js';
import type { PortView } from '../../../simulator/commands/schemas/program.js';
import { type PortStatus, portStatuses } from '../../../simulator/ports.js';
import { refuse, sendText } from '../answers.js';
import type { ApiContext } from '../desk.js';
import type { DeskPart, Routes } from './route.js';

/** Sends the configuration as its own text, with the address of its schema for editors. */
export function configurationPart(desk: ApiContext): DeskPart {
  return {
    handle: async (request, reply) => {
      const text = await desk.rpc.list('program.configuration', undefined);
      if (!text.ok) return refuse(request, reply, text);
      const schema = `${request.protocol}://${request.host}/api/v1/schemas/configuration`;
      return sendText(reply, 'application/yaml; charset=utf-8', joined(editorLine(schema), text.value));
    },
  };
}

/** The serial ports on this machine, which the desk lists, and the lines that use them. */
export const PORTS_PART: DeskPart = {
  show: async (used: Parameters<typeof portStatuses>[0]) => (await portStatuses(used)).map(viewPort),
};

/** `/api/v1/mqtt`: the broker of the bench. */
export function mqttRoutes(desk: ApiContext): Routes {
  return {
    'GET /mqtt': {
      summary: 'Get the state of the connection to the broker',
      description:
        'Whether the configured MQTT broker is connected, and how many messages were lost. Null without a broker.',
      handle: async () => ({ mqtt: desk.mqtt?.status ?? null }),
      response: { 200: z.object({ mqtt: statusSchema.nullable() }).describe('The broker, or null.') },
    },
  };
}

async function* joined(before: string, texts: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  yield before;
  for await (const parts of texts) yield parts.join('');
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
