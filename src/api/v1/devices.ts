import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  clockRequest,
  deviceViewSchema,
  mannersRequest,
  newDevice,
  powerRequest,
  removal,
} from '../../control/schemas/device.js';
import { refuse, send, sendJson } from '../answers.js';
import type { Desk } from '../desk.js';
import { errorSchema } from '../problem.js';

export const deviceParams = z.object({
  name: z.string().meta({ description: 'Name of the device.', examples: ['meter'] }),
});

const leavingDevice = z.object({
  name: z.string().meta({ description: 'Name of the device.', examples: ['old-meter'] }),
});

const deviceList = z.object({ devices: z.array(deviceViewSchema) }).describe('The devices.');

/** `/api/v1/devices`: the devices, their supply and their clocks. */
export function deviceRoutes({ door }: Desk): FastifyPluginCallbackZod {
  const shared = { tags: ['devices'] };
  const command = {
    ...shared,
    params: deviceParams,
    response: { 200: deviceViewSchema, 400: errorSchema, 404: errorSchema },
  };

  return (app, _, done) => {
    app.get(
      '/devices',
      {
        schema: {
          ...shared,
          summary: 'List the devices',
          description: 'Every device, with its supply, its clock and the lines where it answers.',
          response: { 200: deviceList },
        },
      },
      async (request, reply) => {
        const devices = await door.list('device.list', undefined);
        return devices.ok ? sendJson(reply, { devices: devices.value }) : refuse(request, reply, devices);
      },
    );

    app.get(
      '/devices/:name',
      {
        schema: {
          ...shared,
          summary: 'Get a device',
          description:
            'Its supply, its clock, the lines where it answers, the names of its values, and which addresses are defined.',
          params: deviceParams,
          response: { 200: deviceViewSchema, 404: errorSchema },
        },
      },
      (request, reply) => send(request, reply, door.call('device.get', { device: request.params.name })),
    );

    app.post(
      '/devices',
      {
        schema: {
          ...shared,
          summary: 'Add a device',
          description: 'It answers when a line has it among its units.',
          body: newDevice,
          response: { 201: deviceViewSchema, 400: errorSchema, 409: errorSchema },
        },
      },
      (request, reply) => send(request, reply, door.call('device.add', request.body), 201),
    );

    app.delete(
      '/devices/:name',
      {
        schema: {
          ...shared,
          summary: 'Remove a device',
          description: 'A device that lines serve stays, unless `force` takes it from them.',
          params: leavingDevice,
          querystring: removal,
          response: {
            204: z.null().describe('There is no such thing any more.'),
            400: errorSchema,
            404: errorSchema,
            409: errorSchema,
          },
        },
      },
      (request, reply) => {
        const { params, query } = request;
        const force = query.force !== 'false';
        return send(request, reply, door.call('device.remove', { device: params.name, force }), 204);
      },
    );

    app.post(
      '/devices/:name/power',
      {
        schema: {
          ...command,
          summary: 'Switch the supply of a device',
          description: '`cycle` switches it off and on again. A device without supply answers nothing.',
          body: powerRequest.meta({ examples: [{ state: 'cycle', forMs: 200, bootMs: 100 }] }),
        },
      },
      (request, reply) =>
        send(request, reply, door.call('device.power', { device: request.params.name, ...request.body })),
    );

    app.post(
      '/devices/:name/clock',
      {
        schema: {
          ...command,
          summary: 'Set the clock of a device',
          description: 'Lets its signals run faster, slower or not at all, or go on by a step.',
          body: clockRequest.meta({ examples: [{ speed: 60, step: '1h' }] }),
        },
      },
      (request, reply) =>
        send(request, reply, door.call('device.clock', { device: request.params.name, ...request.body })),
    );

    app.put(
      '/devices/:name/manners',
      {
        schema: {
          ...command,
          summary: 'Set the manners of a device',
          description:
            'What it does that a good device would not. They replace those that it has; it goes on as if it had just started.',
          body: mannersRequest,
        },
      },
      (request, reply) => {
        const { params, body: manners } = request;
        return send(request, reply, door.call('device.manners', { device: params.name, manners }));
      },
    );

    app.post(
      '/devices/:name/reset',
      {
        schema: {
          ...command,
          summary: 'Restart a device',
          description:
            'Registers and signals are as configured, except retained values. Its clock begins again at 0.',
        },
      },
      (request, reply) => send(request, reply, door.call('device.reset', { device: request.params.name })),
    );
    done();
  };
}
