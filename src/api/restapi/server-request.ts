import { z } from 'zod';
import { oneOf, section } from '../../schema/parts.js';
import { unitsWithinReason } from '../units.js';
import { integer, milliseconds } from './fields.js';

/** Looked at first: what else is expected depends on it. */
export const serverSubmit = z.object({ submit: oneOf(['Status', 'Start', 'Stop', 'Restart', 'Set']) });

/** What every request may have; `null`, as an empty field, means that no line was chosen. */
const anyRequest = { submit: z.string(), line: z.string({ error: 'the name of a line' }).nullish() };

/** Requests besides Set. */
export const commandRequest = section(anyRequest);

/** The letters of pymodbus, and the words of the native file. */
const PARITIES = { N: 'none', E: 'even', O: 'odd', none: 'none', even: 'even', odd: 'odd' } as const;

const TURNAROUND = 't3.5, eager or a number of milliseconds';

const turnaround = z.union([z.literal(['t3.5', 'eager'], { error: TURNAROUND }), milliseconds(TURNAROUND)], {
  error: TURNAROUND,
});

/**
 * Set: settings by the names that pymodbus has for them, those of its own where it has none. Which values make sense
 * is checked where the native file's are. Null is the default again, where there is one that follows from others.
 */
export const setRequest = section({
  ...anyRequest,
  framer: oneOf(['socket', 'rtu', 'ascii', 'tls']).optional(),
  /** Of a serial port the path, or its name; of a socket the number. */
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

/** The settings of a Set, without what says where they are meant. */
export type ServerSettings = Omit<z.output<typeof setRequest>, 'submit' | 'line'>;

/** Fields of a form that were left empty say nothing. */
export function withoutEmptyFields(body: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== ''));
}
