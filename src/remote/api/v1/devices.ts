import { z } from 'zod';
import { done } from '../../../simulator/commands/refusal.js';
import { deviceViewSchema, removal } from '../../../simulator/commands/schemas/device.js';
import { failures } from '../problem.js';
import { GONE, type Routes } from './route.js';

export const deviceParams = z.object({
  name: z.string().meta({ description: 'Name of the device.', examples: ['meter'] }),
});

const leavingDevice = z.object({
  name: z.string().meta({ description: 'Name of the device.', examples: ['old-meter'] }),
});

const deviceList = z.object({ devices: z.array(deviceViewSchema) }).describe('The devices.');

const command = { params: deviceParams, response: { 200: deviceViewSchema, ...failures(400, 404) } };

/** `/api/v1/devices`: the devices, their supply and their clocks. */
export const DEVICE_ROUTES: Routes = {
  'GET /devices': {
    summary: 'List the devices',
    description: 'Every device, with its supply, its clock and the lines where it answers.',
    list: 'device.list',
    as: 'devices',
    response: { 200: deviceList },
  },
  'GET /devices/:name': {
    summary: 'Get a device',
    description:
      'Its supply, its clock, the lines where it answers, the names of its values, and which addresses are defined.',
    call: 'device.get',
    params: deviceParams,
    response: { 200: deviceViewSchema, ...failures(404) },
  },
  'POST /devices': {
    summary: 'Add a device',
    description: 'It answers when a line has it among its units.',
    call: 'device.add',
    response: { 201: deviceViewSchema, ...failures(400, 409) },
  },
  'DELETE /devices/:name': {
    summary: 'Remove a device',
    description: 'A device that lines serve stays, unless `force` takes it from them.',
    call: 'device.remove',
    params: leavingDevice,
    schema: { querystring: removal },
    input: ({ params, query }) => {
      const { name: device } = params as z.infer<typeof leavingDevice>;
      return done({ device, force: (query as z.infer<typeof removal>).force !== 'false' });
    },
    response: { 204: GONE, ...failures(400, 404, 409) },
  },
  'POST /devices/:name/power': {
    summary: 'Switch the supply of a device',
    description: '`cycle` switches it off and on again. A device without supply answers nothing.',
    call: 'device.power',
    ...command,
  },
  'POST /devices/:name/clock': {
    summary: 'Set the clock of a device',
    description: 'Lets its signals run faster, slower or not at all, or go on by a step.',
    call: 'device.clock',
    ...command,
  },
  'PUT /devices/:name/manners': {
    summary: 'Set the manners of a device',
    description:
      'What it does that a good device would not. They replace those that it has; it goes on as if it had just started.',
    call: 'device.manners',
    ...command,
  },
  'POST /devices/:name/reset': {
    summary: 'Restart a device',
    description:
      'Registers and signals are as configured, except retained values. Its clock begins again at 0.',
    call: 'device.reset',
    ...command,
  },
};
