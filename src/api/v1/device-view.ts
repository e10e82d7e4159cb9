import { z } from 'zod';
import type { Device } from '../../device/device.js';
import { unknownName } from '../../schema/nearest.js';
import type { Simulator } from '../../simulator/simulator.js';
import { thousandths } from '../thousandths.js';
import { DEVICE } from './examples.js';
import { errorBody } from './problem.js';

export const deviceParams = z.object({
  name: z.string().meta({ description: 'Name of the device.', examples: ['meter'] }),
});

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
      .describe('Addresses of each table: the highest that is defined, and one.'),
    names: z.array(z.string()).describe('Names of its values.'),
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
  .meta({ id: 'Device', description: 'A device, with its supply and its clock.', examples: [DEVICE] });

export type DeviceView = z.infer<typeof deviceViewSchema>;

export function viewDevice(simulator: Simulator, device: Device): z.infer<typeof deviceViewSchema> {
  const { name, supply, clock, tables, points } = device;
  const lines = Array.from(simulator.lines, ([line, { bus }]) => {
    const units = bus.units.filter(([, device]) => device === name).map(([unitId]) => unitId);
    return [line, units] as const;
  });
  return {
    name,
    supply: supply.state,
    clock: { time: thousandths(clock.time / 1000), ...clock.settings },
    lines: Object.fromEntries(lines.filter(([, units]) => units.length > 0)),
    tables: Object.fromEntries(Object.entries(tables).map(([table, { window }]) => [table, window.size])),
    names: [...points.named.keys()],
  };
}

const MOST_RANGES = 256;

/** Which addresses of each table are defined. It takes up to a ms: for one device at a time. */
export function definedIn({ tables }: Device): z.infer<typeof deviceViewSchema>['defined'] {
  return Object.fromEntries(
    Object.entries(tables).map(([table, { window }]) => {
      const { image, base, size } = window;
      const ranges: [number, number][] = [];
      let registers = 0;
      for (let address = 0; address < size; address++) {
        if (image.typeAt(base + address) === 'invalid') continue;
        registers++;
        const last = ranges.at(-1);
        if (last && (last[1] === address - 1 || ranges.length === MOST_RANGES)) last[1] = address;
        else ranges.push([address, address]);
      }
      return [table, { registers, ranges }];
    }),
  );
}

/** The body for a device that is not there. */
export function unknownDevice(simulator: Simulator, name: string) {
  return errorBody([{ path: 'name', message: unknownName('device', name, [...simulator.devices.keys()]) }]);
}
