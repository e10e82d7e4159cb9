import { z } from 'zod';
import { oneOf, section } from '../../../common/schema/parts.js';
import { unitsWithinReason } from '../../../simulator/commands/schemas/units.js';
import { integer, milliseconds, requests } from './fields.js';

/** The fields of every request. `null` or an empty field means that no line was chosen. */
const anyRequest = { submit: z.string(), line: z.string({ error: 'the name of a line' }).nullish() };

/** Any request but Set. */
const commandRequest = section(anyRequest);

/** The parities by the letters of pymodbus, and by the words of the native file. */
const PARITIES = { N: 'none', E: 'even', O: 'odd', none: 'none', even: 'even', odd: 'odd' } as const;

const TURNAROUND = 't3.5, eager or a number of milliseconds';

const turnaround = z.union([z.literal(['t3.5', 'eager'], { error: TURNAROUND }), milliseconds(TURNAROUND)], {
  error: TURNAROUND,
});

/**
 * The request Set: settings under their pymodbus names, and under names of our own if pymodbus lacks them.
 * The native file's checks decide which values are valid. Null restores a default that follows from other
 * settings.
 */
const setRequest = section({
  ...anyRequest,
  framer: oneOf(['socket', 'rtu', 'ascii', 'tls']).optional(),
  /** Path or name of a serial port, or port number of a socket. */
  port: z
    .union([z.string(), z.number()], { error: 'the path of a serial port, or a port number' })
    .optional(),
  host: z.string({ error: 'a host name or an address' }).optional(),
  baudrate: integer.optional(),
  bytesize: integer.optional(),
  parity: oneOf(['N', 'E', 'O', 'none', 'even', 'odd'])
    .transform((parity) => PARITIES[parity])
    .optional(),
  stopbits: integer.optional(),
  turnaround: turnaround.nullish(),
  t3_5: milliseconds().nullish(),
  gap: milliseconds().nullish(),
  units: unitsWithinReason.optional(),
});

export const SERVER_REQUESTS = requests(
  {
    ...{ Status: commandRequest, Start: commandRequest, Stop: commandRequest, Restart: commandRequest },
    Set: setRequest,
  },
  { submit: 'Status', line: 'lan' },
);

export type SetRequest = z.output<typeof setRequest>;

/** The settings of a Set, without the fields that name their target. */
export type ServerSettings = Omit<SetRequest, 'submit' | 'line'>;

/** Removes empty form fields, which count as absent. */
export function withoutEmptyFields(body: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== ''));
}
