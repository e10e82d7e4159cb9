import { z } from 'zod';
import { bounded, each, flag, oneOf, section, wholeNumber } from '../../common/schema/parts.js';
import type { Issue } from '../../common/schema/problem.js';
import { duration } from '../../common/schema/units.js';
import type { Lock, Manners } from '../../device/manners.js';
import { TABLE_NAMES } from '../../device/tables.js';
import type { LineDefinition } from '../configuration.js';

const address = wholeNumber(0, 0xffff, 'an address');

const most = section(
  {
    registers: wholeNumber(1, 125, 'a quantity of registers').optional(),
    bits: wholeNumber(1, 2000, 'a quantity of bits').optional(),
    otherwise: z
      .union([wholeNumber(1, 255), oneOf(['silence', 'cut'])], {
        error: 'an exception code from 1 to 255, silence or cut',
      })
      .default(3),
  },
  {
    registers: 'The maximum number of registers per request.',
    bits: 'The maximum number of bits per request.',
    otherwise: 'The answer to a request that exceeds the maximum.',
  },
);

const holes = z.union(
  [
    oneOf(['exception', 'silence', 'shift']),
    section(
      { fill: wholeNumber(0, 0xffff, 'a word') },
      { fill: 'The word returned for undefined registers.' },
    ),
    section({ unless: oneOf(['all']) }, { unless: 'Exception 02 only if every address is undefined.' }),
    section(
      { exception: wholeNumber(1, 0xff, 'an exception code') },
      { exception: 'The exception code instead of 02.' },
    ),
  ],
  { error: 'exception, silence, shift, {fill: 0}, {unless: all} or {exception: 4}' },
);

/** Groups of tables that can share registers: an address has the same meaning in all tables of a group. */
const KINDS: readonly (readonly string[])[] = [
  ['holding', 'input'],
  ['coils', 'discrete'],
];

const sharedMemory = bounded(
  z.array(
    z
      .array(oneOf(TABLE_NAMES), { error: 'a list of tables' })
      .max(2, { error: 'two tables' })
      .refine((group) => KINDS.some((kind) => kind.every((table) => (group as string[]).includes(table))), {
        error:
          'expected [holding, input] or [coils, discrete], beginning with the table whose registers are used',
      }),
    { error: 'a list of lists of tables, as in [[holding, input]]' },
  ),
  2,
);

const firsts = section(
  {
    holding: address.optional(),
    input: address.optional(),
    coils: address.optional(),
    discrete: address.optional(),
  },
  each(TABLE_NAMES, 'The address in the file that is 0 on the wire.'),
);

const connectPause = z
  .union(
    [
      duration(1),
      section(
        { for: duration(1), otherwise: oneOf(['silence', 'deaf']).default('silence') },
        { for: 'How long, in ms.', otherwise: 'The answer to a request during that time.' },
      ),
    ],
    {
      error: 'a time such as 1s, or {for: 1s, otherwise: deaf}',
    },
  )
  .transform((written) =>
    typeof written === 'number' ? { for: written, otherwise: 'silence' as const } : written,
  );

const lock: z.ZodType<Lock, unknown> = z.union(
  [
    oneOf(['function', 'address', 'value']),
    section(
      { reconnect: duration(1) },
      { reconnect: 'A connection that opens sooner than this after the last one, in ms.' },
    ),
  ],
  { error: 'function, address, value or {reconnect: 1s}' },
);

/** `manners` of a device. Each key works on its own. */
export const mannersSchema = section({
  most: most
    .describe(
      'Refuses a read or write of more registers or bits than this. `otherwise` is an exception code, `silence`, or `cut` to answer only the first of them.',
    )
    .optional(),
  holes: holes
    .describe(
      'The answer to a read that touches undefined addresses: exception 02 (default), no reply, the defined registers moved together and padded with zeros, a fill value, another exception, or 02 only if every address is undefined.',
    )
    .optional(),
  wholeValues: flag
    .describe('Exception 02 for a request that begins or ends inside a value of several registers.')
    .optional(),
  writes: oneOf(['single', 'multiple', 'both'])
    .describe(
      'The write functions of the device: 5 and 6, or 15 and 16; the others get exception 01. Default: both, and 22 and 23.',
    )
    .optional(),
  sharedMemory: sharedMemory
    .describe('Tables that share the registers of the first table in each list.')
    .optional(),
  addresses: section(
    {
      first: z.union([address, firsts], { error: 'an address, or an address for each table' }),
    },
    { first: 'The address in the file that is 0 on the wire.' },
  )
    .describe('The address in the file that is 0 on the wire, such as 1, or {holding: 40001, input: 30001}.')
    .optional(),
  pauseBefore: duration(1)
    .describe('Does not answer a request that begins sooner than this after the last frame on its line.')
    .optional(),
  connectPause: connectPause
    .describe(
      'Does not answer for this time after a client connects. With `otherwise: deaf`, a request during that time makes it deaf until the connection is closed.',
    )
    .optional(),
  sleeps: section(
    { after: duration(1), wakes: wholeNumber(1, 100, 'a number of requests').default(1) },
    { after: 'The time without a request, in ms.', wakes: 'The number of requests that only wake it.' },
  )
    .describe('Sleeps after the time `after` without a request. The next `wakes` requests only wake it.')
    .optional(),
  locksUp: section(
    {
      on: z.array(lock, { error: 'a list' }).min(1, { error: 'at least one' }).max(4, { error: 'at most 4' }),
      for: z.union([duration(1), oneOf(['power'])], { error: 'a time such as 60s, or power' }),
    },
    { on: 'The requests that lock it up.', for: 'How long, in ms, or until its power is switched.' },
  )
    .describe(
      'Silent for the time `for`, or until its power is switched, after a request that got exception 01, 02 or 03, or after a connection that was opened too soon after the last one.',
    )
    .optional(),
  answersBroadcasts: oneOf(['own', 'zero'])
    .describe(
      'Answers requests to unit 0 on serial lines, including reads, with its own unit identifier or with 0. If several devices on a line do so, only the first one answers.',
    )
    .optional(),
  firstReply: section(
    { slow: duration(1), on: oneOf(['start', 'connect', 'both']).default('both') },
    {
      slow: 'How late the reply is, in ms.',
      on: 'Whether the late reply is the first one after the device starts, after a connection opens, or after either.',
    },
  )
    .describe('The first reply after the device starts, or after a connection opens, is late.')
    .optional(),
}) satisfies z.ZodType<Manners, unknown>;

/** Returns the keys that only make sense on connections, each with its path. */
export function needConnections({
  connectPause,
  locksUp,
  firstReply,
}: Manners): (readonly (string | number)[])[] {
  const reconnect = locksUp?.on.findIndex((lock) => typeof lock === 'object') ?? -1;
  return [
    ...(connectPause ? [['connectPause']] : []),
    ...(reconnect >= 0 ? [['locksUp', 'on', reconnect, 'reconnect']] : []),
    ...(firstReply?.on === 'connect' ? [['firstReply', 'on']] : []),
  ];
}

/** The keys that concern the registers of a simulated device. */
const OF_REGISTERS = [
  'holes',
  'wholeValues',
  'sharedMemory',
  'addresses',
] as const satisfies (keyof Manners)[];

/**
 * Returns what is wrong with the manners of a device: keys that need connections while the device is only on
 * serial lines, or keys about registers while a real device answers with its own.
 */
export function mannersProblems(
  manners: Manners,
  { name: device, isReal }: { readonly name: string; readonly isReal: boolean },
  lines: readonly LineDefinition[],
): Issue[] {
  const ofRegisters = isReal ? OF_REGISTERS.filter((key) => manners[key] !== undefined) : [];
  if (ofRegisters.length > 0)
    return ofRegisters.map((key) => ({
      path: [key],
      message: 'applies to the registers of a simulated device, but a real one answers here',
      code: 'manners.real_device',
    }));
  const needing = needConnections(manners);
  if (needing.length === 0) return [];
  const serving = lines.filter(({ units }) => Array.from(units.values()).includes(device));
  if (serving.length === 0 || serving.some(({ kind }) => kind !== 'serial')) return [];
  const names = serving.map(({ name }) => name).join(', ');
  return needing.map((path) => ({
    path,
    message: `needs a line with connections, and ${names} is serial`,
    code: 'manners.no_connection',
  }));
}

/**
 * Returns the manners that these lines can show. Lines may have changed since a device got them. @see
 * mannersProblems
 */
export function usableManners(
  manners: Manners,
  device: { readonly name: string; readonly isReal: boolean },
  lines: readonly LineDefinition[],
): Manners {
  const left = new Set(mannersProblems(manners, device, lines).map(({ path: [key] }) => key));
  const usable: Manners = Object.fromEntries(Object.entries(manners).filter(([key]) => !left.has(key)));
  const locks = manners.locksUp?.on.filter((lock) => typeof lock !== 'object') ?? [];
  return manners.locksUp && left.has('locksUp') && locks.length > 0
    ? { ...usable, locksUp: { ...manners.locksUp, on: locks } }
    : usable;
}
