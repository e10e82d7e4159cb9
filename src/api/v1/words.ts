import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Device } from '../../device/device.js';
import { TABLE_NAMES, type TableName } from '../../device/tables.js';
import { ADDRESS_SPACE } from '../../protocol/limits.js';
import { oneOf, wholeNumber } from '../../schema/parts.js';
import type { Simulator } from '../../simulator/simulator.js';
import { type DeviceValue, valuesBetween } from '../../simulator/values.js';
import { thousandths } from '../thousandths.js';
import { deviceParams, deviceViewSchema, unknownDevice } from './device-view.js';
import { WORDS } from './examples.js';
import { errorBody, errorSchema } from './problem.js';
import { inQuery } from './query.js';
import { registerViewSchema, viewRegister } from './value-view.js';

/** So many named values with signals take some ms, and the lines are not served while an answer is made. */
const MAX_WORDS = 512;

const address = wholeNumber(0, ADDRESS_SPACE - 1, 'an address');

const query = z.object({
  table: oneOf(TABLE_NAMES).default('holding').describe('The table.'),
  from: inQuery(address).default(0).describe('The first address.'),
  to: inQuery(address).optional().describe('The last address; as far as an answer reaches without it.'),
});

const wordsSchema = deviceViewSchema
  .pick({ supply: true, clock: true })
  .extend({
    table: z.enum(TABLE_NAMES),
    from: z.number().describe('The address of the first word.'),
    bits: z.union([z.literal(1), z.literal(16)]).describe('Bits that each address holds.'),
    words: z.array(z.number().nullable()).describe('What clients read; null where nothing is defined.'),
    access: z
      .string()
      .describe('A letter for each word: `w` where clients may write, `r` where not, `-` where nothing is.'),
    values: z
      .array(registerViewSchema)
      .describe('Values that have a name, a signal or an action, or take several registers.'),
  })
  .meta({
    id: 'Words',
    description: 'Registers side by side, as clients see them.',
    examples: [WORDS],
  });

export type Words = z.infer<typeof wordsSchema>;

/** `/api/v1/devices/NAME/words`: registers as clients see them, short enough to be asked for again and again. */
export function wordRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  return (app, _, done) => {
    app.get(
      '/devices/:name/words',
      {
        schema: {
          summary: 'Read registers of a device as words',
          description:
            'A range of at most 512 addresses as clients see it. Reading runs no action and counts no read.',
          tags: ['devices'],
          params: deviceParams,
          querystring: query,
          response: { 200: wordsSchema, 400: errorSchema, 404: errorSchema },
        },
      },
      async ({ params: { name }, query: { table, from, to = from + MAX_WORDS - 1 } }, reply) => {
        const device = simulator.devices.get(name);
        if (!device) return reply.code(404).send(unknownDevice(simulator, name));
        if (to >= from + MAX_WORDS) {
          const message = `expected at most ${MAX_WORDS} addresses`;
          return reply.code(400).send(errorBody([{ path: 'to', message }]));
        }
        return viewWords(device, table, from, to);
      },
    );
    done();
  };
}

function viewWords(device: Device, table: TableName, from: number, to: number): Words {
  const { supply, clock, tables } = device;
  const { image, base, size, bitsPerCell } = tables[table].window;
  const end = Math.min(to + 1, size);
  const found = valuesBetween(device, table, { from, to, limit: MAX_WORDS });
  // A signal is computed when it is shown, and the words are taken afterwards.
  const values = found.filter(isMoreThanAWord).map(viewRegister);
  const words: (number | null)[] = [];
  let access = '';
  for (let address = from; address < end; address++) {
    const isDefined = image.typeAt(base + address) !== 'invalid';
    words.push(isDefined ? image.wordAt(base + address) : null);
    access += isDefined ? (image.isWritable(base + address) ? 'w' : 'r') : '-';
  }
  const isOfBits = (table === 'coils' || table === 'discrete') && bitsPerCell === 1;
  return {
    supply: supply.state,
    clock: { time: thousandths(clock.time / 1000), ...clock.settings },
    table,
    from,
    bits: isOfBits ? 1 : 16,
    words,
    access,
    values,
  };
}

function isMoreThanAWord({ place, point, image }: DeviceValue): boolean {
  return place.cells > 1 || point !== undefined || image.actionAt(place.address) !== undefined;
}
