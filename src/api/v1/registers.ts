import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Device } from '../../device/device.js';
import { TABLE_NAMES } from '../../device/tables.js';
import { ADDRESS_SPACE } from '../../protocol/limits.js';
import type { Value } from '../../registers/value.js';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import { unknownName } from '../../schema/nearest.js';
import { flag, oneOf, section, wholeNumber } from '../../schema/parts.js';
import type { Simulator } from '../../simulator/simulator.js';
import {
  type DeviceValue,
  parseChange,
  tablesMeant,
  valueAtAddress,
  valueNamed,
  valuesBetween,
  valuesOfWords,
  whyUnchangeable,
  writeValue,
  writeWords,
} from '../../simulator/values.js';
import { deviceParams, unknownDevice } from './device-view.js';
import { errorBody, errorSchema, issuesBody } from './problem.js';
import { inQuery } from './query.js';
import { registerViewSchema, valueViewSchema, viewRegister, viewValue } from './value-view.js';

/** The most values in an answer. They take some ms, and the lines are not served while an answer is made. */
const MAX_VALUES = 8192;
const MAX_CHANGES = 1000;
/** As many as a client can write in one request. */
const MAX_WORDS = 123;

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

const anyValue = z.unknown().describe('In its unit, or as it is stored: a number, or text.');
const RAW = 'Whether the value is given as it is stored.';

const changeList = section({
  changes: z
    .array(
      section({
        name: z.string({ error: 'a name' }).optional(),
        table: oneOf(TABLE_NAMES).optional(),
        address: address.optional(),
        value: anyValue.optional(),
        raw: flag.default(false).describe(RAW),
        words: z
          .array(wholeNumber(0, 0xffff, 'a register'), { error: 'a list of registers' })
          .min(1, { error: 'at least one register' })
          .max(MAX_WORDS, { error: `at most ${MAX_WORDS} registers` })
          .optional()
          .describe('In place of a value: what the registers from the address on hold, as clients see it.'),
      }),
      { error: 'a list of changes, as in [{"name": "voltage", "value": 231.5}]' },
    )
    .max(MAX_CHANGES, { error: `at most ${MAX_CHANGES} changes` }),
}).meta({
  examples: [
    {
      changes: [
        { name: 'voltage', value: 231.5 },
        { table: 'holding', address: 1, value: 7 },
      ],
    },
  ],
});

export type ChangeRequest = z.input<typeof changeList>['changes'][number];
export type RegisterQuery = z.input<typeof query>;

type Change = z.infer<typeof changeList>['changes'][number];

export const valueParams = deviceParams.extend({
  value: z.string().meta({ description: 'Name of the value.', examples: ['voltage'] }),
});
const newValue = section({ value: anyValue.optional(), raw: flag.default(false).describe(RAW) }).meta({
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
            'Each change has a name, or a table and an address, and a value or words. All changes are made, or none when one has a mistake.',
          tags: ['devices'],
          params: deviceParams,
          checkedBody: changeList,
          response: { 200: registerList, 400: errorSchema, 404: errorSchema },
        },
      },
      async ({ params: { name }, body }, reply) => {
        const device = simulator.devices.get(name);
        if (!device) return reply.code(404).send(unknownDevice(simulator, name));
        const at = new At(body, new Findings());
        const changes = readChanges(device, at);
        if (!changes) return reply.code(400).send(issuesBody(at.findings));
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
          response: { 200: valueViewSchema, 400: errorSchema, 404: errorSchema },
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

/** A change without a mistake, not made yet. */
interface ReadyChange {
  readonly targets: readonly DeviceValue[];
  readonly carryOut: () => void;
}

/** All changes, or none when one of them has a mistake. */
function readChanges(device: Device, at: At): readonly ReadyChange[] | undefined {
  const request = at.check(changeList);
  return at.unlessWrong(() =>
    request?.changes.flatMap((change, i): ReadyChange | readonly ReadyChange[] => {
      const place = at.key('changes').key(i);
      if (change.words) return readWords(device, change, change.words, place) ?? [];
      const target = findTarget(device, change, place);
      const parsed = target && readValue(target, change.raw, place.key('value'));
      if (!target || !parsed) return [];
      return { targets: [target], carryOut: () => writeValue(target, parsed.value) };
    }),
  );
}

function readWords(
  device: Device,
  { name, table, address, value }: Change,
  words: readonly number[],
  at: At,
): ReadyChange | undefined {
  if (table === undefined || address === undefined || name !== undefined || value !== undefined)
    return at.wrong('expected words with a table and an address');
  const found = valuesOfWords(device, table, address, words);
  if ('wrong' in found) return at.key(found.key).wrong(found.wrong);
  return { targets: found.targets, carryOut: () => writeWords(device, table, address, words) };
}

function findTarget(device: Device, { name, table, address }: Change, at: At): DeviceValue | undefined {
  if (name !== undefined) {
    if (table !== undefined || address !== undefined)
      return at.wrong('expected a name, or a table and an address');
    return findNamed(device, name, at.key('name'));
  }
  if (table === undefined || address === undefined)
    return at.wrong('expected a name, or a table and an address');
  const found = valueAtAddress(device, table, address);
  if (!found) return at.key('address').wrong(`${table} ${address} is not defined`);
  if (found.address === address) return found;
  return at
    .key('address')
    .wrong(`expected ${found.address}, where this ${found.place.type} begins, got ${address}`);
}

function findNamed(device: Device, name: string, at: At): DeviceValue | undefined {
  return valueNamed(device, name) ?? at.wrong(unknownName('name', name, [...device.points.named.keys()]));
}

function readValue(target: DeviceValue, raw: boolean, at: At): { readonly value: Value } | undefined {
  const why = whyUnchangeable(target);
  if (why !== undefined) return at.wrong(why);
  const parsed = parseChange(target, at.value, raw);
  return 'expected' in parsed ? at.expected(parsed.expected) : parsed;
}
