import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type PortStatus, portStatuses } from '../../simulator/ports.js';
import type { Simulator } from '../../simulator/simulator.js';
import { PORT } from './examples.js';

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
  .meta({ id: 'Port', description: 'A serial port.', examples: [PORT] });

const portList = z.object({ ports: z.array(portView) }).describe('The serial ports of this machine.');

/** `/api/v1/ports`: the serial ports of this machine, and which lines use them. */
export function portRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  return (app, _, done) => {
    const schema = {
      summary: 'List the serial ports',
      description:
        'The serial ports of this machine, with names that stay the same, and which lines use them.',
      tags: ['program'],
      response: { 200: portList },
    };
    app.get('/ports', { schema }, async () => {
      const ports = await portStatuses(simulator.lines.values());
      return { ports: ports.map(viewPort) };
    });
    done();
  };
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
