import { z } from 'zod';
import { flag, numberFrom, oneOf, section } from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { MAX_SPEED } from '../../../device/signals/clock.js';
import { mannersSchema } from '../../../files/config/native/manners-schema.js';

export const deviceViewSchema = z
  .object({
    name: z.string(),
    supply: z.enum(['on', 'off', 'booting']).describe('`booting` answers nothing, like `off`.'),
    clock: z.object({
      time: z.number().describe('Seconds of the device’s clock since it began.'),
      speed: z.number(),
      paused: z.boolean(),
    }),
    lines: z.record(z.string(), z.array(z.string())).describe('Where it answers: unit identifiers by line.'),
    tables: z
      .record(z.string(), z.number())
      .describe('Size of each table: the highest defined address plus 1.'),
    names: z.array(z.string()).describe('Names of its values.'),
    manners: z
      .record(z.string(), z.unknown())
      .describe('What it does that a good device would not; times in ms.'),
    real: z
      .object({
        to: z.string().describe('The port or the host of the real device.'),
        answers: z.boolean().describe('`false` while its fallback answers in its place.'),
      })
      .optional()
      .describe('The real device that answers here, where there is one.'),
    defined: z
      .record(
        z.string(),
        z.object({
          registers: z.number().describe('How many addresses are defined.'),
          ranges: z
            .array(z.tuple([z.number(), z.number()]))
            .describe(
              'First and last address of each range. Of more than 256, the last one reaches over all others.',
            ),
        }),
      )
      .optional()
      .describe('Only of `GET /devices/NAME`: which addresses of each table are defined.'),
  })
  .meta({ id: 'Device', description: 'A device, with its supply and its clock.' });

export type DeviceView = z.infer<typeof deviceViewSchema>;

const WEEK_MS = 7 * 86_400_000;

export const powerRequest = section({
  state: oneOf(['on', 'off', 'cycle']),
  forMs: duration(0, WEEK_MS).optional(),
  bootMs: duration(0, WEEK_MS).default(0),
}).meta({ examples: [{ state: 'cycle', forMs: 200, bootMs: 100 }] });

export type PowerRequest = z.input<typeof powerRequest>;
export type PowerChange = z.output<typeof powerRequest>;

export const clockRequest = section({
  speed: numberFrom(0, MAX_SPEED, 'a speed').optional(),
  pause: flag.optional(),
  step: duration(0, 10 * 365 * 86_400_000).default(0),
}).meta({ examples: [{ speed: 60, step: '1h' }] });

export type ClockRequest = z.input<typeof clockRequest>;
export type ClockChange = z.output<typeof clockRequest>;

export const mannersRequest = mannersSchema.meta({
  description: 'All manners that the device then has; `{}` for none.',
  examples: [{ most: { registers: 40 }, connectPause: '1s' }],
});

export type MannersRequest = z.input<typeof mannersRequest>;
export type MannersChange = z.output<typeof mannersRequest>;

const name = z.string({ error: 'a name' });

/** The entry of a native file, and the name. The device itself is checked when it is added. */
export const newDevice = z
  .looseObject({ name }, { error: 'a device as in a native file, with its name' })
  .meta({
    description: 'A device as in the configuration, with its name.',
    examples: [{ name: 'sensor', registers: { holding: [{ address: 0, name: 'level', value: 40 }] } }],
  });

export const removal = z.object({
  force: oneOf(['', 'true', 'false'])
    .default('false')
    .describe('`?force` or `?force=true` removes a device that lines serve, too.'),
});
