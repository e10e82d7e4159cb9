import { createHash } from 'node:crypto';
import type { TableName } from '../../device/tables.js';
import { LayoutBuilder, type RegisterLayout } from '../../registers/layout.js';
import type { At } from '../../schema/at.js';
import { isMapping } from '../../schema/parts.js';
import type { DeviceDefinition, DeviceRegisters, WindowDefinition } from '../configuration.js';
import { readExtras, readIdentity } from './extras.js';
import { nativeTable } from './registers.js';
import { deviceSections, pymodbusReferenceSchema, tableSections } from './schema.js';

/** Finds the device of a pymodbus file that a native file refers to; the messages say why it can't be had. */
export type PymodbusDevices = (file: string, device: string | undefined) => PymodbusResult;

type PymodbusResult = { readonly warnings: readonly string[] } & (
  | { readonly ok: true; readonly registers: DeviceRegisters }
  | { readonly ok: false; readonly messages: readonly string[] }
);

/** Builds the devices of one file. Equal tables become one layout: images share its memory until they are written. */
export class NativeDeviceReader {
  readonly #pymodbusDevices: PymodbusDevices;
  readonly #layouts = new Map<string, RegisterLayout>();
  readonly #metas = new Map<string, Uint8Array>();

  constructor(pymodbusDevices: PymodbusDevices) {
    this.#pymodbusDevices = pymodbusDevices;
  }

  /** The device that stands at `at`; undefined after telling its mistakes. */
  read(name: string, at: At): DeviceDefinition | undefined {
    const isReference = isMapping(at.value) && 'pymodbus' in at.value;
    return at.unlessWrong(() => (isReference ? this.#refer(name, at) : this.#define(name, at)));
  }

  #define(name: string, at: At): DeviceDefinition | undefined {
    const parts = at.check(deviceSections);
    const registers = at.key('registers');
    const identity = readIdentity(at.key('identity'));
    const extras = readExtras(at);
    if (parts && registers.value === undefined) {
      at.wrong('missing, expected registers, or pymodbus with the path of a pymodbus file');
    }
    if (registers.value === undefined) return undefined;
    registers.check(tableSections);
    const table = (table: TableName) => this.#table(table, registers.key(table));
    const tables = {
      coils: table('coils'),
      discrete: table('discrete'),
      input: table('input'),
      holding: table('holding'),
    };
    return { name, identity, extras, tables };
  }

  #table(table: TableName, at: At): WindowDefinition {
    const layout = at.value === undefined ? undefined : this.#layout(table, at);
    const bitsPerCell = table === 'coils' || table === 'discrete' ? 1 : 16;
    const cells = layout ?? new LayoutBuilder(0).build();
    const window = { base: 0, size: cells.size, wholeValues: false, countsAsPymodbus: false };
    return { layout: cells, bitsPerCell, ...window };
  }

  #layout(table: TableName, at: At): RegisterLayout | undefined {
    // The table's name is part of the key: within a device, tables with one layout share their registers.
    const key = `${table} ${JSON.stringify(at.value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each))}`;
    const known = this.#layouts.get(key);
    if (known) return known;
    const built = nativeTable(table, at);
    if (!built) return undefined;
    const layout = { ...built, meta: this.#sharedMeta(built.meta) };
    this.#layouts.set(key, layout);
    return layout;
  }

  /** Devices of one make differ in their values, not in their types: 64 KiB for each of 988 tables of a full line. */
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
    return { name, identity, extras, ...result.registers };
  }
}
