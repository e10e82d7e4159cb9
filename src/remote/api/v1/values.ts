import { z } from 'zod';
import { SIGNAL_KINDS } from '../../../device/signals/kinds.js';
import {
  kindSchema,
  registerViewSchema,
  valueViewSchema,
  wordsSchema,
} from '../../../simulator/commands/schemas/value.js';
import { JSON_TYPE } from '../answers.js';
import { madeOnce } from '../made.js';
import { errorSchema, failures } from '../problem.js';
import { Components } from '../schema-json.js';
import { deviceParams } from './devices.js';
import type { Routes } from './route.js';

const valueParams = deviceParams.extend({
  value: z.string().meta({ description: 'Name of the value.', examples: ['voltage'] }),
});

const registerList = z.object({ registers: z.array(registerViewSchema) }).describe('The values.');

const otherSchema = errorSchema
  .extend({ registers: registerList.shape.registers.describe('What stands there.') })
  .meta({
    id: 'OtherValues',
    description: 'Something else stands there than was expected.',
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

const ofSignal = { params: valueParams, response: { 200: registerViewSchema, ...failures(400, 404) } };

/**
 * `/api/v1/devices/NAME`: values by name, or by table and address; as values, as words, and the signals that
 * move them.
 */
export const VALUE_ROUTES: Routes = {
  'GET /devices/:name/registers': {
    summary: 'Read values of a device',
    description: 'All values, those of a table or a range of addresses, or those with the given names.',
    list: 'value.list',
    as: 'registers',
    params: deviceParams,
    response: { 200: registerList, ...failures(400, 404) },
  },
  'PATCH /devices/:name/registers': {
    summary: 'Set values of a device',
    description:
      'Each change has a name, or a table and an address, and a value or words. All changes are made, or none when one has a mistake or finds something else than it expects.',
    call: 'value.change',
    as: 'registers',
    params: deviceParams,
    response: { 200: registerList, ...failures(400, 404), 409: otherSchema },
  },
  'POST /devices/:name/registers': {
    summary: 'Define registers of a device',
    description:
      'Those of the range that are not defined become registers of 16 bits, or coils, that hold 0. They are there until the program ends; `GET /api/v1/configuration` has them.',
    call: 'value.define',
    as: 'registers',
    params: deviceParams,
    response: { 201: registerList, ...failures(400, 404, 409) },
  },
  'GET /devices/:name/values/:value': {
    summary: 'Read a value by its name',
    description: 'In its unit, and as it is stored. A signal is computed for this moment.',
    call: 'value.get',
    params: valueParams,
    response: { 200: valueViewSchema, ...failures(404) },
  },
  'PUT /devices/:name/values/:value': {
    summary: 'Set a value by its name',
    description: 'Whether clients may write it does not matter. A value that a signal moves can not be set.',
    call: 'value.set',
    params: valueParams,
    response: { 200: valueViewSchema, ...failures(400, 404), 409: otherSchema },
  },
  'GET /devices/:name/words': {
    summary: 'Read registers of a device as words',
    description:
      'A range of at most 512 addresses as clients see it. Reading runs no action and counts no read.',
    call: 'value.words',
    params: deviceParams,
    response: { 200: wordsSchema, ...failures(400, 404) },
  },
  'GET /signals': {
    summary: 'List the kinds of signals',
    description: 'Every kind with the JSON Schema of its parameters, from which a form can be made.',
    handle: async (_, reply) => reply.type(JSON_TYPE).send(await kinds()),
    response: { 200: kindList },
  },
  'PUT /devices/:name/signals/:value': {
    summary: 'Let a signal move a value',
    description: 'Replaces the signal of the value. docs/signals.md explains each kind.',
    call: 'signal.set',
    ...ofSignal,
  },
  'DELETE /devices/:name/signals/:value': {
    summary: 'Let a value stand still',
    description: 'Removes the signal of the value, which keeps its present value.',
    call: 'signal.remove',
    ...ofSignal,
  },
};
