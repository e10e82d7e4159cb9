import { z } from 'zod';
import { MAX_SPEED } from '../../device/signals/clock.js';
import { TABLE_NAMES } from '../../device/tables.js';
import { mannersSchema } from '../../files/config/native/manners-schema.js';

/**
 * The files of a state. They are read as carefully as a file of somebody else: an SD card, an editor or
 * another version may have changed them.
 */

/**
 * The version of the form of these files. A file with another number was written by another version of the
 * program.
 */
export const FORMAT = 1;

const name = z.string().min(1).max(64);
const fingerprint = z.string().max(64);
const finite = z.number();
const time = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const source = z.record(z.string(), z.unknown());

/** The schema of a page. 65,536 cells are 256 pages. */
const page = z.tuple([z.int().min(0).max(0xffff), z.string().max(800), z.string().max(400)]);
const location = { table: z.literal(TABLE_NAMES), address: z.int().min(0).max(0xffff) };

/** The most points of a device: it can't have more points than addresses. */
const MOST_POINTS = 4 * 65536;

export const deviceStateSchema = z.strictObject({
  format: z.literal(FORMAT),
  device: name,
  fingerprint,
  /** The time of the program that the time of the clock belongs to, in ms. */
  uptime: time,
  clock: z.strictObject({ time, speed: z.number().min(0).max(MAX_SPEED), paused: z.boolean() }),
  /** The manners, when they are not those of the file. */
  manners: mannersSchema.optional(),
  /** The registers that were defined at run time. The pages of the images have their values, too. */
  defined: z
    .array(z.strictObject({ ...location, quantity: z.int().min(1).max(0x10000), write: z.boolean() }))
    .max(MOST_POINTS)
    .optional(),
  signals: z.array(z.strictObject({ ...location, signal: source.nullable() })).max(MOST_POINTS),
  /** Values whose availability differs from the file. */
  available: z
    .array(z.strictObject({ ...location, available: z.boolean() }))
    .max(MOST_POINTS)
    .optional(),
  /** The sums of counters, each with its time in ms of the clock. */
  counters: z.array(z.strictObject({ ...location, time, value: finite })).max(MOST_POINTS),
  /** The changed pages of each list of registers. */
  images: z.array(z.array(page).max(0x10000)).max(5),
});

export type DeviceState = z.output<typeof deviceStateSchema>;

const removed = z.array(z.strictObject({ name, fingerprint })).max(4096);
const added = z.array(z.strictObject({ name, source })).max(4096);

export const keptStateSchema = z.strictObject({
  format: z.literal(FORMAT),
  devices: z.strictObject({
    added,
    removed,
    /** Copies that the file does not have, with their sources. */
    copies: z
      .array(z.strictObject({ name, copyOf: name }))
      .max(4096)
      .optional(),
  }),
  lines: z.strictObject({
    added,
    removed,
    /** `fingerprint` is that of the line in the file; `change` is the body of a `PUT` of the line. */
    changed: z.array(z.strictObject({ name, fingerprint, change: source })).max(4096),
  }),
  /** All fault rules, when they are not those of the file. `fingerprint` is that of the rules in the file. */
  faults: z.strictObject({ fingerprint, rules: z.array(source).max(1024) }).optional(),
});

export type KeptState = z.output<typeof keptStateSchema>;

export const clockStateSchema = z.strictObject({
  format: z.literal(FORMAT),
  uptime: time,
  /** The time of day, in ms since 1970. */
  at: finite,
  /** True when the program ended at this time; otherwise it ran on for an unknown time. */
  ended: z.boolean(),
});

export type ClockState = z.output<typeof clockStateSchema>;
