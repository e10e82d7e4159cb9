import { z } from 'zod';
import type { Device } from '../../device/device.js';
import { TABLE_NAMES } from '../../device/tables.js';
import { ADDRESS_SPACE } from '../../protocol/limits.js';
import type { Value } from '../../registers/value.js';
import type { At } from '../../schema/at.js';
import { unknownName } from '../../schema/nearest.js';
import { flag, oneOf, section, wholeNumber } from '../../schema/parts.js';
import {
  type DeviceValue,
  parseChange,
  valueAtAddress,
  valueNamed,
  valuesOfWords,
  whyUnchangeable,
  writeValue,
  writeWords,
} from '../../simulator/values.js';
import { type Expectation, readExpected } from './expected-value.js';

const MAX_CHANGES = 1000;
/** As many as a client can write in one request. */
const MAX_WORDS = 123;

export const anyValue = z.unknown().describe('In its unit, or as it is stored: a number, or text.');
export const RAW = 'Whether the value is given as it is stored.';

export const EXPECTED =
  'What must stand there now: a value, given as `value` is, or a list of registers as clients see them. If something else does, nothing of the request is written.';

export const changeList = section({
  changes: z
    .array(
      section({
        name: z.string({ error: 'a name' }).optional(),
        table: oneOf(TABLE_NAMES).optional(),
        address: wholeNumber(0, ADDRESS_SPACE - 1, 'an address').optional(),
        value: anyValue.optional(),
        raw: flag.default(false).describe(RAW),
        words: z
          .array(wholeNumber(0, 0xffff, 'a register'), { error: 'a list of registers' })
          .min(1, { error: 'at least one register' })
          .max(MAX_WORDS, { error: `at most ${MAX_WORDS} registers` })
          .optional()
          .describe('In place of a value: what the registers from the address on hold, as clients see it.'),
        expected: z.unknown().optional().describe(EXPECTED),
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
type Change = z.infer<typeof changeList>['changes'][number];

/** A change without a mistake, not made yet. */
interface ReadyChange {
  readonly targets: readonly DeviceValue[];
  readonly carryOut: () => void;
  /** What has to stand there; undefined where anything may. */
  readonly expectation?: Expectation;
}

/** All changes, or none when one of them has a mistake. */
export function readChanges(device: Device, at: At): readonly ReadyChange[] | undefined {
  const request = at.check(changeList);
  return at.unlessWrong(() =>
    request?.changes.flatMap((change, i): ReadyChange | readonly ReadyChange[] => {
      const place = at.key('changes').key(i);
      if (change.words) return readWords(device, change, change.words, place) ?? [];
      const target = findTarget(device, change, place);
      const parsed = target && readValue(target, change.raw, place.key('value'));
      if (!target || !parsed) return [];
      const expectation = readExpected(device, target, change, place.key('expected'));
      return {
        targets: [target],
        carryOut: () => writeValue(target, parsed.value),
        ...(expectation && { expectation }),
      };
    }),
  );
}

function readWords(
  device: Device,
  change: Change,
  words: readonly number[],
  at: At,
): ReadyChange | undefined {
  const { name, table, address, value } = change;
  if (table === undefined || address === undefined || name !== undefined || value !== undefined)
    return at.wrong('expected words with a table and an address');
  const found = valuesOfWords(device, table, address, words);
  if ('wrong' in found) return at.key(found.key).wrong(found.wrong);
  const expectation = readExpected(device, { table, address }, change, at.key('expected'));
  return {
    targets: found.targets,
    carryOut: () => writeWords(device, table, address, words),
    ...(expectation && { expectation }),
  };
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

export function findNamed(device: Device, name: string, at: At): DeviceValue | undefined {
  return valueNamed(device, name) ?? at.wrong(unknownName('name', name, [...device.points.named.keys()]));
}

export function readValue(target: DeviceValue, raw: boolean, at: At): { readonly value: Value } | undefined {
  const why = whyUnchangeable(target);
  if (why !== undefined) return at.wrong(why);
  const parsed = parseChange(target, at.value, raw);
  return 'expected' in parsed ? at.expected(parsed.expected) : parsed;
}
