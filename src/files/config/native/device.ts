import { createHash } from 'node:crypto';
import { compact } from '../../../common/compact.js';
import type { At } from '../../../common/schema/at.js';
import { isMapping } from '../../../common/schema/parts.js';
import { atOnce, type Work } from '../../../common/work.js';
import { LayoutBuilder } from '../../../device/registers/layout.js';
import type { TableName } from '../../../device/tables.js';
import type { DeviceDefinition, DeviceRegisters, DeviceSource, WindowDefinition } from '../configuration.js';
import type { OpenRecording } from '../recording-file.js';
import { deviceSections, pymodbusReferenceSchema, tableSections } from './device-schema.js';
import { readExtras, readFeeds, readIdentity } from './extras.js';
import { readLife, reportSharedNames } from './life.js';
import { readReal } from './real.js';
import { type NativeTable, readingTable } from './registers.js';

/**
 * Finds the device of a pymodbus file that a native file refers to. The messages say why it is not available.
 */
export type PymodbusDevices = (file: string, device: string | undefined) => PymodbusResult;

type PymodbusResult = { readonly warnings: readonly string[] } & (
  | { readonly ok: true; readonly registers: DeviceRegisters }
  | { readonly ok: false; readonly messages: readonly string[] }
);

/**
 * Builds the devices of one file. Equal tables become one layout, whose memory the images share until they
 * are written.
 */
export class NativeDeviceReader {
  readonly #pymodbusDevices: PymodbusDevices;
  readonly #recordings: OpenRecording;
  readonly #tables = new Map<string, NativeTable>();
  readonly #metas = new Map<string, Uint8Array>();

  constructor(pymodbusDevices: PymodbusDevices, recordings: OpenRecording) {
    this.#pymodbusDevices = pymodbusDevices;
    this.#recordings = recordings;
  }

  /** Builds the device whose entry is `at`; undefined after reporting its mistakes. */
  read(name: string, at: At): DeviceDefinition | undefined {
    return atOnce(this.reading(name, at));
  }

  /** Does what `read` does, as work that can pause. */
  *reading(name: string, at: At): Work<DeviceDefinition | undefined> {
    const isReference = isMapping(at.value) && 'pymodbus' in at.value;
    if (isReference) return at.unlessWrong(() => this.#refer(name, at));
    return yield* at.unlessWrongIn(this.#define(name, at));
  }

  *#define(name: string, at: At): Work<DeviceDefinition | undefined> {
    const parts = at.check(deviceSections);
    const registers = at.key('registers');
    const identity = readIdentity(at.key('identity'));
    const extras = readExtras(at);
    const real = readReal(at);
    const needsRegisters = at.key('real').value === undefined;
    if (parts && registers.value === undefined && needsRegisters) {
      at.wrong('missing, expected registers, or pymodbus with the path of a pymodbus file');
    }
    if (registers.value === undefined && needsRegisters) return undefined;
    if (registers.value !== undefined) registers.check(tableSections);
    const coils = yield* this.#table('coils', registers.key('coils'));
    const discrete = yield* this.#table('discrete', registers.key('discrete'));
    const input = yield* this.#table('input', registers.key('input'));
    const holding = yield* this.#table('holding', registers.key('holding'));
    const points = [coils, discrete, input, holding].flatMap((read) => read?.points ?? []);
    const tables = {
      coils: windowOf('coils', coils?.layout),
      discrete: windowOf('discrete', discrete?.layout),
      input: windowOf('input', input?.layout),
      holding: windowOf('holding', holding?.layout),
    };
    reportSharedNames(points, registers);
    const source = at.value as DeviceSource;
    const life = readLife(at, points, readFeeds(at, this.#recordings));
    return { name, source, identity, extras, tables, ...compact({ life, real }) };
  }

  *#table(table: TableName, at: At): Work<NativeTable | undefined> {
    if (at.value === undefined) return undefined;
    // The table's name is part of the key, because tables of a device with the same layout share their registers.
    const key = `${table} ${yield* digestOf(at.value)}`;
    const known = this.#tables.get(key);
    if (known) return known;
    const built = yield* readingTable(table, at, this.#recordings);
    if (!built) return undefined;
    const { layout, points } = built;
    const shared = { layout: { ...layout, meta: this.#sharedMeta(layout.meta) }, points };
    this.#tables.set(key, shared);
    return shared;
  }

  /**
   * Shares equal type data. Devices of one make differ in values, not in types, and each of the 988 tables of
   * a full line would take 64 KiB.
   */
  #sharedMeta(meta: Uint8Array): Uint8Array {
    const digest = createHash('sha256').update(meta).digest('base64');
    const known = this.#metas.get(digest) ?? meta;
    this.#metas.set(digest, known);
    return known;
  }

  #refer(name: string, at: At): DeviceDefinition | undefined {
    const reference = at.check(pymodbusReferenceSchema);
    const identity = readIdentity(at.key('identity'));
    const extras = readExtras(at);
    if (!reference) return undefined;
    const result = this.#pymodbusDevices(reference.pymodbus, reference.device);
    const file = at.key('pymodbus');
    for (const warning of result.warnings) file.warn(warning);
    if (!result.ok) {
      for (const message of result.messages) file.wrong(message);
      return undefined;
    }
    const source = at.value as DeviceSource;
    const feeds = readFeeds(at, this.#recordings);
    const life = feeds.length > 0 && { points: [], clock: {}, seed: 0, feeds };
    return { name, source, identity, extras, ...result.registers, ...(life && { life }) };
  }
}

/** The number of entries that are made into text without a pause. */
const PIECE = 64;

/** A short text that is equal for equal entries only. */
function* digestOf(entries: unknown): Work<string> {
  const hash = createHash('sha256');
  const all = Array.isArray(entries) ? entries : [entries];
  for (let i = 0; i < all.length; i += PIECE) {
    hash.update(
      JSON.stringify(all.slice(i, i + PIECE), (_, each) => (typeof each === 'bigint' ? `${each}n` : each)),
    );
    yield;
  }
  return hash.digest('base64');
}

function windowOf(table: TableName, layout = new LayoutBuilder(0).build()): WindowDefinition {
  const bitsPerCell = table === 'coils' || table === 'discrete' ? 1 : 16;
  return { layout, bitsPerCell, base: 0, size: layout.size, wholeValues: false, countsAsPymodbus: false };
}
