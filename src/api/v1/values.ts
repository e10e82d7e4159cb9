import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { OTHER_VALUES } from '../../control/schemas/examples.js';
import {
  changeList,
  kindSchema,
  newValue,
  registerViewSchema,
  signalBody,
  valueQuery,
  valueViewSchema,
  wordQuery,
  wordsSchema,
} from '../../control/schemas/value.js';
import { SIGNAL_KINDS } from '../../signals/kinds.js';
import { JSON_TYPE, refuse, send, sendJson } from '../answers.js';
import type { Desk } from '../desk.js';
import { madeOnce } from '../made.js';
import { errorSchema } from '../problem.js';
import { Components } from '../schema-json.js';
import { deviceParams } from './devices.js';

const valueParams = deviceParams.extend({
  value: z.string().meta({ description: 'Name of the value.', examples: ['voltage'] }),
});

const registerList = z.object({ registers: z.array(registerViewSchema) }).describe('The values.');

const otherSchema = errorSchema
  .extend({ registers: registerList.shape.registers.describe('What stands there.') })
  .meta({
    id: 'OtherValues',
    description: 'Something else stands there than was expected.',
    examples: [OTHER_VALUES],
  });

const kindList = z.object({ kinds: z.array(kindSchema) }).describe('The kinds of signals.');

const kinds = madeOnce('signals.json', () => {
  const components = new Components();
  return {
    kinds: SIGNAL_KINDS.map(({ name, value, schema }) => ({
      name,
      value,
      schema: { ...components.convert(schema, 'input') },
    })),
  };
});

/** Values of `/api/v1/devices/NAME`, by name or by table and address: as values, as words, and what moves them. */
export function valueRoutes({ door }: Desk): FastifyPluginCallbackZod {
  const shared = { tags: ['devices'] };
  const ofSignal = {
    ...shared,
    params: valueParams,
    response: { 200: registerViewSchema, 400: errorSchema, 404: errorSchema },
  };

  return (app, _, done) => {
    app.get(
      '/devices/:name/registers',
      {
        schema: {
          ...shared,
          summary: 'Read values of a device',
          description: 'All values, those of a table or a range of addresses, or those with the given names.',
          params: deviceParams,
          querystring: valueQuery,
          response: { 200: registerList, 400: errorSchema, 404: errorSchema },
        },
      },
      async (request, reply) => {
        const values = await door.list('value.list', { device: request.params.name, ...request.query });
        return values.ok ? sendJson(reply, { registers: values.value }) : refuse(request, reply, values);
      },
    );

    app.patch(
      '/devices/:name/registers',
      {
        schema: {
          ...shared,
          summary: 'Set values of a device',
          description:
            'Each change has a name, or a table and an address, and a value or words. All changes are made, or none when one has a mistake or finds something else than it expects.',
          params: deviceParams,
          body: changeList,
          response: { 200: registerList, 400: errorSchema, 404: errorSchema, 409: otherSchema },
        },
      },
      async (request, reply) => {
        const came = await door.call('value.change', { device: request.params.name, ...request.body });
        return came.ok ? { registers: [...came.value] } : refuse(request, reply, came);
      },
    );

    app.get(
      '/devices/:name/values/:value',
      {
        schema: {
          ...shared,
          summary: 'Read a value by its name',
          description: 'In its unit, and as it is stored. A signal is computed for this moment.',
          params: valueParams,
          response: { 200: valueViewSchema, 404: errorSchema },
        },
      },
      (request, reply) => {
        const { name: device, value } = request.params;
        return send(request, reply, door.call('value.get', { device, value }));
      },
    );

    app.put(
      '/devices/:name/values/:value',
      {
        schema: {
          ...shared,
          summary: 'Set a value by its name',
          description:
            'Whether clients may write it does not matter. A value that a signal moves can not be set.',
          params: valueParams,
          body: newValue,
          response: { 200: valueViewSchema, 400: errorSchema, 404: errorSchema, 409: otherSchema },
        },
      },
      (request, reply) => {
        const { name: device, value: name } = request.params;
        return send(request, reply, door.call('value.set', { ...request.body, device, name }));
      },
    );

    app.get(
      '/devices/:name/words',
      {
        schema: {
          ...shared,
          summary: 'Read registers of a device as words',
          description:
            'A range of at most 512 addresses as clients see it. Reading runs no action and counts no read.',
          params: deviceParams,
          querystring: wordQuery,
          response: { 200: wordsSchema, 400: errorSchema, 404: errorSchema },
        },
      },
      (request, reply) =>
        send(request, reply, door.call('value.words', { device: request.params.name, ...request.query })),
    );

    app.get(
      '/signals',
      {
        schema: {
          ...shared,
          summary: 'List the kinds of signals',
          description: 'Every kind with the JSON Schema of its parameters, from which a form can be made.',
          response: { 200: kindList },
        },
      },
      async (_, reply) => reply.type(JSON_TYPE).send((await kinds()) as never),
    );

    const setting = {
      ...ofSignal,
      summary: 'Let a signal move a value',
      description: 'Replaces the signal of the value. docs/signals.md explains each kind.',
      body: signalBody,
    };
    app.put('/devices/:name/signals/:value', { schema: setting }, (request, reply) => {
      const { name: device, value } = request.params;
      return send(request, reply, door.call('signal.set', { device, value, signal: request.body }));
    });

    const removal = {
      ...ofSignal,
      summary: 'Let a value stand still',
      description: 'Removes the signal of the value, which keeps its present value.',
    };
    app.delete('/devices/:name/signals/:value', { schema: removal }, (request, reply) => {
      const { name: device, value } = request.params;
      return send(request, reply, door.call('signal.remove', { device, value }));
    });
    done();
  };
}
