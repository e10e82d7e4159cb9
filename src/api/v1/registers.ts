import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Device } from '../../device/device.js';
import { TABLE_NAMES } from '../../device/tables.js';
import { ADDRESS_SPACE } from '../../protocol/limits.js';
import { At } from '../../schema/at.js';
import { Findings, MOST_LISTED } from '../../schema/findings.js';
import { unknownName } from '../../schema/nearest.js';
import { flag, oneOf, section, wholeNumber } from '../../schema/parts.js';
import type { Simulator } from '../../simulator/simulator.js';
import { tablesMeant, valueNamed, valuesBetween, writeValue } from '../../simulator/values.js';
import { deviceParams, unknownDevice } from './device-view.js';
import { OTHER_VALUES } from './examples.js';
import { readExpected } from './expected-value.js';
import { errorBody, errorSchema, issuesBody } from './problem.js';
import { inQuery } from './query.js';
import {
  anyValue,
  changeList,
  EXPECTED,
  findNamed,
  RAW,
  readChanges,
  readValue,
} from './register-changes.js';
import { registerViewSchema, valueViewSchema, viewRegister, viewValue } from './value-view.js';

/** The most values in an answer. They take some ms, and the lines are not served while an answer is made. */
const MAX_VALUES = 8192;

const address = wholeNumber(0, ADDRESS_SPACE - 1, 'an address');

const query = z.object({
  table: oneOf(TABLE_NAMES).optional().describe('Only values of this table.'),
  from: inQuery(address).default(0).describe('The first address.'),
  to: inQuery(address)
    .default(ADDRESS_SPACE - 1)
    .describe('The last address.'),
  names: z.string().optional().describe('Names, separated by commas, in place of a range.'),
});

const registerList = z.object({ registers: z.array(registerViewSchema) }).describe('The values.');

export type RegisterQuery = z.input<typeof query>;

const otherSchema = errorSchema
  .extend({ registers: registerList.shape.registers.describe('What stands there.') })
  .meta({
    id: 'OtherValues',
    description: 'Something else stands there than was expected.',
    examples: [OTHER_VALUES],
  });

export const valueParams = deviceParams.extend({
  value: z.string().meta({ description: 'Name of the value.', examples: ['voltage'] }),
});
const newValue = section({
  value: anyValue.optional(),
  raw: flag.default(false).describe(RAW),
  expected: z.unknown().optional().describe(EXPECTED),
}).meta({
  examples: [{ value: 231.5 }],
});

/** `/api/v1/devices/NAME/registers` and `.../values/NAME`: values by name or by table and address. */
export function registerRoutes(simulator: Simulator): FastifyPluginCallbackZod {
  return (app, _, done) => {
    app.get(
      '/devices/:name/registers',
      {
        schema: {
          summary: 'Read values of a device',
          description: 'All values, those of a table or a range of addresses, or those with the given names.',
          tags: ['devices'],
          params: deviceParams,
          querystring: query,
          response: { 200: registerList, 400: errorSchema, 404: errorSchema },
        },
      },
      async ({ params: { name }, query: { names, table, from, to } }, reply) => {
        const device = simulator.devices.get(name);
        if (!device) return reply.code(404).send(unknownDevice(simulator, name));
        const at = new At({ names }, new Findings());
        const values =
          names === undefined
            ? tablesMeant(table).flatMap((each) =>
                valuesBetween(device, each, { from, to, limit: MAX_VALUES + 1 }),
              )
            : names.split(',').flatMap((each) => findNamed(device, each, at.key('names')) ?? []);
        if (values.length > MAX_VALUES)
          at.key('to').wrong(`expected at most ${MAX_VALUES} values in the range`);
        if (at.findings.count > 0) return reply.code(400).send(issuesBody(at.findings));
        return { registers: values.map(viewRegister) };
      },
    );

    app.patch(
      '/devices/:name/registers',
      {
        schema: {
          summary: 'Set values of a device',
          description:
            'Each change has a name, or a table and an address, and a value or words. All changes are made, or none when one has a mistake or finds something else than it expects.',
          tags: ['devices'],
          params: deviceParams,
          checkedBody: changeList,
          response: { 200: registerList, 400: errorSchema, 404: errorSchema, 409: otherSchema },
        },
      },
      async ({ params: { name }, body }, reply) => {
        const device = simulator.devices.get(name);
        if (!device) return reply.code(404).send(unknownDevice(simulator, name));
        const at = new At(body, new Findings());
        const changes = readChanges(device, at);
        if (!changes) return reply.code(400).send(issuesBody(at.findings));
        const others = changes.flatMap(({ expectation }) => expectation?.unmet() ?? []);
        if (others.length > 0) {
          const registers = changes.flatMap(({ targets }) => targets.map(viewRegister));
          return reply.code(409).send({ ...errorBody(others.slice(0, MOST_LISTED)), registers });
        }
        for (const { carryOut } of changes) carryOut();
        return { registers: changes.flatMap(({ targets }) => targets.map(viewRegister)) };
      },
    );

    app.get(
      '/devices/:name/values/:value',
      {
        schema: {
          summary: 'Read a value by its name',
          description: 'In its unit, and as it is stored. A signal is computed for this moment.',
          tags: ['devices'],
          params: valueParams,
          response: { 200: valueViewSchema, 404: errorSchema },
        },
      },
      async ({ params }, reply) => {
        const device = simulator.devices.get(params.name);
        if (!device) return reply.code(404).send(unknownDevice(simulator, params.name));
        const found = valueNamed(device, params.value);
        return found ? viewValue(found) : reply.code(404).send(unknownValue(device, params.value));
      },
    );

    app.put(
      '/devices/:name/values/:value',
      {
        schema: {
          summary: 'Set a value by its name',
          description:
            'Whether clients may write it does not matter. A value that a signal moves can not be set.',
          tags: ['devices'],
          params: valueParams,
          checkedBody: newValue,
          response: { 200: valueViewSchema, 400: errorSchema, 404: errorSchema, 409: otherSchema },
        },
      },
      async ({ params, body }, reply) => {
        const device = simulator.devices.get(params.name);
        if (!device) return reply.code(404).send(unknownDevice(simulator, params.name));
        const found = valueNamed(device, params.value);
        if (!found) return reply.code(404).send(unknownValue(device, params.value));
        const at = new At(body, new Findings());
        const request = at.check(newValue);
        const change = request && readValue(found, request.raw, at.key('value'));
        if (!change) return reply.code(400).send(issuesBody(at.findings));
        const expectation = readExpected(device, found, request, at.key('expected'));
        if (at.findings.count > 0) return reply.code(400).send(issuesBody(at.findings));
        const other = expectation?.unmet();
        if (other) return reply.code(409).send({ ...errorBody([other]), registers: [viewRegister(found)] });
        writeValue(found, change.value);
        return viewValue(found);
      },
    );
    done();
  };
}

/** The body for a value that the device does not have. */
export function unknownValue({ points }: Device, name: string) {
  return errorBody([{ path: 'value', message: unknownName('name', name, [...points.named.keys()]) }]);
}
