import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { FaultRule } from '../../device/faults/rule.js';
import type { RegisterLayout } from '../../device/registers/layout.js';
import { MAX_SPEED } from '../../device/signals/clock.js';
import { TABLE_NAMES } from '../../device/tables.js';
import type { Configuration, DeviceDefinition, LineDefinition } from '../../document/configuration.js';
import { isSameLine, lineSettings, sourceChange } from '../../document/native/line-source.js';
import { mannersSchema } from '../../document/native/manners-schema.js';
import { copiesAt } from '../../document/native/units.js';
import { flow } from '../../document/print.js';
import { type RunningConfiguration, ruleSource, whyUnusable } from '../as-file/written-configuration.js';

/**
 * The files of a state. They are validated like untrusted input: an SD card, an editor or another version may
 * have changed them.
 */

/** The version of the file format. A file with another number was written by another version of the program. */
export const FORMAT = 1;

const name = z.string().min(1).max(64);
const fingerprint = z.string().max(64);
const finite = z.number();
const time = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const source = z.record(z.string(), z.unknown());

/** The schema of a page. 65,536 cells make 256 pages. */
const page = z.tuple([z.int().min(0).max(0xffff), z.string().max(800), z.string().max(400)]);
const location = { table: z.literal(TABLE_NAMES), address: z.int().min(0).max(0xffff) };

/** Maximum number of points in a device: it can't have more points than addresses. */
const MOST_POINTS = 4 * 65536;

export const deviceStateSchema = z.strictObject({
  format: z.literal(FORMAT),
  device: name,
  fingerprint,
  /** The program's running time that corresponds to the time of the clock, in ms. */
  uptime: time,
  clock: z.strictObject({ time, speed: z.number().min(0).max(MAX_SPEED), paused: z.boolean() }),
  /** The manners, if they differ from the file. */
  manners: mannersSchema.optional(),
  /** The registers that were defined at run time. The pages of the images include their values. */
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
  /** The sums of counters, each with its time on the clock in ms. */
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
    /** Copies that are not in the file, with their sources. */
    copies: z
      .array(z.strictObject({ name, copyOf: name }))
      .max(4096)
      .optional(),
  }),
  lines: z.strictObject({
    added,
    removed,
    /** `fingerprint` identifies the line in the file; `change` is the body of a `PUT` of the line. */
    changed: z.array(z.strictObject({ name, fingerprint, change: source })).max(4096),
  }),
  /** All fault rules, if they differ from the file. `fingerprint` identifies the rules in the file. */
  faults: z.strictObject({ fingerprint, rules: z.array(source).max(1024) }).optional(),
});

export type KeptState = z.output<typeof keptStateSchema>;

export const clockStateSchema = z.strictObject({
  format: z.literal(FORMAT),
  uptime: time,
  /** The time of day, in ms since 1970. */
  at: finite,
  /** True if the program ended at this time; otherwise it continued for an unknown time. */
  ended: z.boolean(),
});

export type ClockState = z.output<typeof clockStateSchema>;

/** Writes numbers that JSON can't represent as texts that readers of values accept. */
function replacer(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'number') return value;
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  return Object.is(value, -0) ? MINUS_ZERO : value;
}

/** Represents -0, which JSON can represent but `JSON.stringify` writes as 0. */
const MINUS_ZERO = '\u0000-0';
const MINUS_ZERO_IN_JSON = JSON.stringify(MINUS_ZERO);

/** The content of a file, as JSON that reads back with the same meaning. */
export function jsonOf(written: unknown, indent?: number): string {
  return JSON.stringify(written, replacer, indent).replaceAll(MINUS_ZERO_IN_JSON, '-0');
}

/** Known fingerprints. Definitions never change. */
const fingerprints = new WeakMap<DeviceDefinition, string>();

/** Known digests. Layouts never change, and devices share them. */
const digests = new WeakMap<RegisterLayout, string>();

/**
 * A short text that changes when the file's definition of the device changes: its entry, or the registers of
 * a pymodbus file. A state belongs to the definition with the same fingerprint.
 */
export function deviceFingerprint(definition: DeviceDefinition): string {
  const known = fingerprints.get(definition);
  if (known !== undefined) return known;
  const made = fingerprintOf(definition);
  fingerprints.set(definition, made);
  return made;
}

function fingerprintOf({ source, identity, tables, cells, life }: DeviceDefinition): string {
  const windows = Object.values(tables).map(({ layout, ...window }) => ({
    ...window,
    layout: digestOf(layout),
  }));
  const { extended, ...names } = identity;
  const parts = {
    // In the same form as in the simulator's state, which is JSON.
    source: source && JSON.parse(jsonOf(source)),
    identity: { ...names, ...(extended && { extended: Object.fromEntries(extended) }) },
    windows,
    cells: cells && digestOf(cells),
    points: life?.points.length,
  };
  return digest(flow(parts));
}

export function lineFingerprint(definition: LineDefinition): string {
  return digest(flow(lineSettings(definition)));
}

export function rulesFingerprint(rules: readonly FaultRule[]): string {
  return digest(flow(rules.map((rule) => ({ ...ruleSource({ rule, seed: 0 }), seed: rule.seed }))));
}

function digestOf(layout: RegisterLayout): string {
  const known = digests.get(layout);
  if (known !== undefined) return known;
  const { words, meta, actions } = layout;
  const hash = createHash('sha256').update(words).update(meta);
  const made = hash
    .update(flow(Array.from(actions, ([cell, action]) => ({ cell, ...action }))))
    .digest('hex');
  digests.set(layout, made);
  return made;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** The parts of the file that a running simulator is compared with. */
export type FileContent = Pick<Configuration, 'devices' | 'lines' | 'faults'>;

/** How the running setup differs from the file, apart from the registers and signals of devices. */
export function keptState(file: FileContent, running: RunningConfiguration): KeptState {
  const definitions = running.devices.map(({ definition }) => definition);
  const devices = new Map(definitions.map((each) => [each.name, each]));
  const configuredDevices = new Map(file.devices.map((each) => [each.name, each]));
  // Copies for the addresses of lines are left out, because the lines recreate them.
  const madeByLines = new Set(running.lines.flatMap(({ definition }) => copiesAt(definition)));
  const added = definitions.filter((each) => !isSame(each, configuredDevices.get(each.name)));
  const copies = added.flatMap(({ name, copyOf }) =>
    copyOf === undefined || madeByLines.has(name) ? [] : [{ name, copyOf }],
  );
  const lines = new Map(running.lines.map(({ definition }) => [definition.name, definition]));
  const configuredLines = new Set(file.lines.map(({ name }) => name));
  return {
    format: FORMAT,
    devices: {
      added: added
        .filter(({ copyOf }) => copyOf === undefined)
        .map(({ name, source = {} }) => ({ name, source })),
      removed: file.devices
        .filter((each) => !isSame(each, devices.get(each.name)))
        .map((each) => ({ name: each.name, fingerprint: deviceFingerprint(each) })),
      ...(copies.length > 0 && { copies }),
    },
    lines: {
      added: Array.from(lines.values())
        .filter(({ name }) => !configuredLines.has(name))
        .map((line) => ({ name: line.name, source: line.source })),
      removed: file.lines
        .filter(({ name }) => !lines.has(name))
        .map((line) => ({ name: line.name, fingerprint: lineFingerprint(line) })),
      changed: file.lines.flatMap((line) => changeOf(line, lines.get(line.name))),
    },
    ...changedRules(file, running),
  };
}

/** True if nothing differs from the file. */
export function isAsInFile({ devices, lines, faults }: KeptState): boolean {
  const lists = [devices.added, devices.removed, lines.added, lines.removed, lines.changed];
  return faults === undefined && lists.every(({ length }) => length === 0);
}

/** True if two devices have the same definition and are copies of the same device or of none. */
function isSame(one: DeviceDefinition, other: DeviceDefinition | undefined): boolean {
  if (one === other) return true;
  return one.copyOf === other?.copyOf && !!other && deviceFingerprint(one) === deviceFingerprint(other);
}

function changeOf(before: LineDefinition, now: LineDefinition | undefined): KeptState['lines']['changed'] {
  if (!now || isSameLine(now, before)) return [];
  const change = sourceChange(before.source, now.source);
  if (Object.keys(change).length === 0) return [];
  return [{ name: before.name, fingerprint: lineFingerprint(before), change: { ...change } }];
}

function changedRules(
  { faults }: FileContent,
  { rules, faultLines, findValue }: RunningConfiguration,
): Pick<KeptState, 'faults'> {
  const fingerprint = rulesFingerprint(faults);
  // A program that is killed during a run must not continue to disturb the client after its restart. A rule
  // for a line or value that no longer exists could not be put in force again.
  const lasting = rules.filter(
    (rule) => !rule.temporary && whyUnusable(rule, faultLines, findValue) === undefined,
  );
  if (rulesFingerprint(lasting.map(({ rule }) => rule)) === fingerprint) return {};
  return { faults: { fingerprint, rules: lasting.map(ruleSource) } };
}
