import { createHash } from 'node:crypto';
import type { TableName } from '../../device/tables.js';
import { LayoutBuilder, type RegisterLayout } from '../../registers/layout.js';
import { check, sectionOf } from '../../schema/parts.js';
import type { Issue, Path } from '../../schema/problem.js';
import type { DeviceDefinition, DeviceRegisters, WindowDefinition } from '../configuration.js';
import { readExtras, readIdentity } from './extras.js';
import { nativeTable } from './registers.js';
import { deviceSections, pymodbusReferenceSchema, tableSections } from './schema.js';

/** Finds the device of a pymodbus file that a native file refers to; the messages say why it can't be had. */
export type PymodbusDevices = (
  file: string,
  device: string | undefined,
) =>
  | { readonly ok: true; readonly registers: DeviceRegisters }
  | { readonly ok: false; readonly messages: readonly string[] };

/** Builds the devices of one file. Equal tables become one layout: images share its memory until they are written. */
export class NativeDeviceReader {
  readonly #pymodbusDevices: PymodbusDevices;
  readonly #layouts = new Map<string, RegisterLayout>();
  readonly #metas = new Map<string, Uint8Array>();

  constructor(pymodbusDevices: PymodbusDevices) {
    this.#pymodbusDevices = pymodbusDevices;
  }

  read(name: string, value: unknown, path: Path, issues: Issue[]): DeviceDefinition | undefined {
    const isReference = typeof value === 'object' && value !== null && 'pymodbus' in value;
    return isReference ? this.#refer(name, value, path, issues) : this.#define(name, value, path, issues);
  }

  #define(name: string, value: unknown, path: Path, issues: Issue[]): DeviceDefinition | undefined {
    const found = issues.length;
    const parts = check(deviceSections, value, path, issues);
    const inside = sectionOf(value, 'registers');
    const identity = readIdentity(sectionOf(value, 'identity'), [...path, 'identity'], issues);
    const extras = readExtras(value, path, issues);
    if (parts && inside === undefined) {
      issues.push({
        path,
        message: 'missing, expected registers, or pymodbus with the path of a pymodbus file',
      });
    }
    if (inside === undefined) return undefined;
    const registersPath = [...path, 'registers'];
    check(tableSections, inside, registersPath, issues);
    const table = (table: TableName) =>
      this.#table(table, sectionOf(inside, table), [...registersPath, table], issues);
    const tables = {
      coils: table('coils'),
      discrete: table('discrete'),
      input: table('input'),
      holding: table('holding'),
    };
    return issues.length > found ? undefined : { name, identity, extras, tables };
  }

  #table(table: TableName, list: unknown, path: Path, issues: Issue[]): WindowDefinition {
    const layout = list === undefined ? undefined : this.#layout(table, list, path, issues);
    const bitsPerCell = table === 'coils' || table === 'discrete' ? 1 : 16;
    const cells = layout ?? new LayoutBuilder(0).build();
    return { layout: cells, base: 0, size: cells.size, bitsPerCell, wholeValues: false };
  }

  #layout(table: TableName, list: unknown, path: Path, issues: Issue[]): RegisterLayout | undefined {
    // The table's name is part of the key: within a device, tables with one layout share their registers.
    const key = `${table} ${JSON.stringify(list, (_, each) => (typeof each === 'bigint' ? `${each}n` : each))}`;
    const known = this.#layouts.get(key);
    if (known) return known;
    const built = nativeTable(table, list, path, issues);
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

  #refer(name: string, value: unknown, path: Path, issues: Issue[]): DeviceDefinition | undefined {
    const found = issues.length;
    const reference = check(pymodbusReferenceSchema, value, path, issues);
    const identity = readIdentity(sectionOf(value, 'identity'), [...path, 'identity'], issues);
    const extras = readExtras(value, path, issues);
    if (!reference) return undefined;
    const result = this.#pymodbusDevices(reference.pymodbus, reference.device);
    if (!result.ok) {
      for (const message of result.messages) issues.push({ path: [...path, 'pymodbus'], message });
      return undefined;
    }
    return issues.length > found ? undefined : { name, identity, extras, ...result.registers };
  }
}
