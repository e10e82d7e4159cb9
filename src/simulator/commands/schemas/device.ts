import { z } from 'zod';
import {
  flag,
  number,
  numberFrom,
  oneOf,
  section,
  text,
  UNLIMITED,
  wholeNumber,
} from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { MAX_SPEED } from '../../../device/signals/clock.js';
import { TABLE_NAMES } from '../../../device/tables.js';
import { mannersSchema } from '../../../document/native/manners-schema.js';
import { ADDRESS_SPACE } from '../../../modbus/protocol/limits.js';
import type { DeclaredCommands } from '../declared.js';
import { failures, GONE } from './problem.js';

export const deviceViewSchema = z
  .object({
    name: z.string(),
    power: z
      .enum(['on', 'off', 'booting'])
      .describe('A device that is `booting` does not answer, as if it were `off`.'),
    clock: z.object({
      time: z.number().describe('The device clock, in seconds.'),
      speed: z.number(),
      paused: z.boolean(),
    }),
    lines: z
      .record(z.string(), z.array(z.string()))
      .describe('The unit identifiers that the device answers, by line.'),
    tables: z
      .record(z.string(), z.number())
      .describe('Size of each table: the highest defined address plus 1.'),
    names: z.array(z.string()).describe("The names of the device's values."),
    manners: z
      .record(z.string(), z.unknown())
      .describe('How the device deviates from a conforming one; times in ms.'),
    real: z
      .object({
        to: z.string().describe('The port or the host of the real device.'),
        answers: z.boolean().describe('`false` while the fallback answers instead.'),
      })
      .optional()
      .describe('The real device that answers here, if there is one.'),
    defined: z
      .record(
        z.string(),
        z.object({
          registers: z.number().describe('The number of defined addresses.'),
          ranges: z
            .array(z.tuple([z.number(), z.number()]))
            .describe(
              'First and last address of each range. With more than 256, the last one covers all others.',
            ),
        }),
      )
      .optional()
      .describe('Only in `GET /devices/NAME`: the defined addresses of each table.'),
  })
  .meta({ id: 'Device', description: 'A device, with its power and its clock.' });

export type DeviceView = z.infer<typeof deviceViewSchema>;

const WEEK_MS = 7 * 86_400_000;

const powerRequest = section({
  state: oneOf(['on', 'off', 'cycle']),
  forMs: duration(0, WEEK_MS).optional(),
  bootMs: duration(0, WEEK_MS).default(0),
}).meta({ examples: [{ state: 'cycle', forMs: 200, bootMs: 100 }] });

export type PowerRequest = z.input<typeof powerRequest>;
export type PowerChange = z.output<typeof powerRequest>;

const clockRequest = section({
  speed: numberFrom(0, MAX_SPEED, 'a speed').optional(),
  pause: flag.optional(),
  step: duration(0, 10 * 365 * 86_400_000).default(0),
}).meta({ examples: [{ speed: 60, step: '1h' }] });

export type ClockRequest = z.input<typeof clockRequest>;
export type ClockChange = z.output<typeof clockRequest>;

const mannersRequest = mannersSchema.meta({
  description: 'The complete manners of the device; `{}` for none.',
  examples: [{ most: { registers: 40 }, connectPause: '1s' }],
});

export type MannersRequest = z.input<typeof mannersRequest>;

const name = z.string({ error: 'a name' });

/** The entry in the form of a native file, and the name. The device itself is checked when it is added. */
const newDevice = z.looseObject({ name }, { error: 'a device as in a native file, with its name' }).meta({
  description: 'A device as in the configuration, with its name.',
  examples: [{ name: 'sensor', registers: { holding: [{ address: 0, name: 'level', value: 40 }] } }],
});

const removal = z.object({
  force: oneOf(['', 'true', 'false'])
    .default('false')
    .describe('`?force` or `?force=true` also removes a device that lines serve.')
    .transform((force) => force !== 'false'),
});

const deviceList = z.object({ devices: z.array(deviceViewSchema) }).describe('The devices.');

const deviceParams = (example: string) =>
  z.object({ name: z.string().meta({ description: 'Name of the device.', examples: [example] }) });

export const ofDevice = { of: { device: text('the name of a device') }, params: deviceParams('meter') };
const changed = { ...ofDevice, response: { 200: deviceViewSchema, ...failures(400, 404) } };

/**
 * The commands on devices: their power, their clocks and their manners. `../devices.ts` carries them out.
 */
export const DEVICE_COMMANDS = {
  'device.list': {
    rest: 'GET /devices',
    kind: 'list',
    summary: 'List the devices',
    description: 'Every device, with its power, its clock and the lines where it answers.',
    member: 'devices',
    response: { 200: deviceList },
  },
  'device.get': {
    rest: 'GET /devices/:name',
    kind: 'query',
    ...ofDevice,
    summary: 'Get a device',
    description:
      'The power and clock of the device, the lines where it answers, the names of its values, and the defined addresses.',
    response: { 200: deviceViewSchema, ...failures(404) },
  },
  'device.add': {
    rest: 'POST /devices',
    sent: newDevice,
    // Enough for a thousand registers with all their keys.
    maxParts: 16_000,
    summary: 'Add a device',
    description: 'The device answers once a line lists it in `units`.',
    response: { 201: deviceViewSchema, ...failures(400, 409) },
  },
  'device.remove': {
    rest: 'DELETE /devices/:name',
    ...ofDevice,
    sent: section({ force: flag.default(false) }),
    summary: 'Remove a device',
    description: 'A device that lines serve is not removed without `force`.',
    params: deviceParams('old-meter'),
    schema: { querystring: removal },
    response: { 204: GONE, ...failures(400, 404, 409) },
  },
  'device.power': {
    rest: 'POST /devices/:name/power',
    ...changed,
    sent: powerRequest,
    summary: 'Switch the power of a device',
    description: '`cycle` switches the device off and on again. A device without power does not answer.',
  },
  'device.clock': {
    rest: 'POST /devices/:name/clock',
    ...changed,
    sent: clockRequest,
    summary: 'Set the clock of a device',
    description:
      'Makes the signals of the device run faster, slower or not at all, or advances them by a step.',
  },
  'device.manners': {
    rest: 'PUT /devices/:name/manners',
    ...changed,
    sent: mannersRequest,
    as: 'manners',
    summary: 'Set the manners of a device',
    description: 'These replace all manners of the device, which then behaves as if it had just started.',
  },
  'device.reset': {
    rest: 'POST /devices/:name/reset',
    ...changed,
    summary: 'Restart a device',
    description:
      'Resets registers and signals to their configured values, except retained values. The clock of the device restarts at 0.',
  },
} as const satisfies DeclaredCommands;

/** Maximum number of values in one message. More would take longer than one turn of the main thread may. */
export const MOST_TAKEN = 64;

/** A number received for a value, before the scale of its signal is applied. */
const taken = section({
  device: text('the name of a device'),
  table: oneOf(TABLE_NAMES),
  address: wholeNumber(0, ADDRESS_SPACE - 1, 'an address'),
  value: number,
  /** The time since the number arrived, in ms. */
  age: numberFrom(0, UNLIMITED, 'a time in ms'),
});

export type Taken = z.infer<typeof taken>;

/** The commands on values that come from outside. `../devices.ts` carries them out. */
export const INLET_COMMANDS = {
  'inlet.list': { kind: 'list', summary: 'List the values set from outside' },
  'inlet.take': {
    summary: 'Pass numbers to values set from outside',
    sent: section({
      values: z.array(taken).max(MOST_TAKEN, { error: `at most ${MOST_TAKEN} values` }),
    }),
  },
} as const satisfies DeclaredCommands;

const address = wholeNumber(0, ADDRESS_SPACE - 1, 'an address');
const range = {
  device: text('the name of a device').optional(),
  table: oneOf(TABLE_NAMES).optional(),
  from: address,
  to: address,
};

/** The commands on consecutive registers, for `/restapi`. `../cells.ts` carries them out. */
export const CELL_COMMANDS = {
  'cells.read': { kind: 'query', sent: section(range), summary: 'Read consecutive registers' },
  'cells.set': {
    summary: 'Set a register, or make it writable, or both',
    sent: section({
      ...range,
      register: address,
      value: z.union([z.number(), z.string(), z.boolean()]).optional(),
      writable: flag,
    }),
  },
} as const satisfies DeclaredCommands;
