import { isMapping } from '../../common/schema/parts.js';
import type { Device } from '../../device/device.js';
import { TABLE_NAMES, type TableName } from '../../device/tables.js';
import type { DeviceDefinition } from '../../files/config/configuration.js';
import { sourceWith } from '../defined-entries.js';
import { flow, key } from './flow.js';
import { nativeEntries } from './native-registers.js';
import { plainEntries, sharesCells, type WrittenEntry } from './plain-registers.js';

/** A device and its definition. */
export interface WrittenDevice {
  readonly definition: DeviceDefinition;
  readonly device: Device;
}

/** The present entry of a device in a native file, in pieces that each take little time. */
export function* deviceText({ definition, device }: WrittenDevice): Generator<string> {
  yield `  ${key(device.name)}:\n`;
  const source = definition.source ?? identitySource(definition);
  const { defined } = device;
  // `like` is left out: its manners and rules stand in the file as they are now.
  const { registers, clock, pymodbus, manners, like, device: deviceInFile, ...others } = source;
  const isUnchanged = pymodbus !== undefined && defined.length === 0 && isAsConfigured(device);
  if (isUnchanged) yield `    pymodbus: ${flow(pymodbus)}\n`;
  if (isUnchanged && deviceInFile !== undefined) yield `    device: ${flow(deviceInFile)}\n`;
  for (const [name, value] of Object.entries(others)) yield `    ${key(name)}: ${flow(value)}\n`;
  if (device.manners) yield `    manners: ${flow(device.manners)}\n`;
  yield clockText(device, clock);
  if (isUnchanged) return;
  const entries = sourceWith(source, defined)?.registers;
  if (!isMapping(entries)) yield* differences(definition, device);
  yield* registersText((table) =>
    isMapping(entries) ? nativeEntries(device, table, entries[table]) : plainEntries(device, table),
  );
}

function* registersText(entriesOf: (table: TableName) => Iterable<WrittenEntry>): Generator<string> {
  let hasEntries = false;
  for (const table of TABLE_NAMES) {
    let isFirst = true;
    for (const entry of entriesOf(table)) {
      if (entry === undefined) {
        // There is nothing to write, but time has passed.
        yield '';
        continue;
      }
      if (typeof entry === 'string') {
        yield `      # ${entry}\n`;
        continue;
      }
      if (!hasEntries) yield '    registers:\n';
      if (isFirst) yield `      ${table}:\n`;
      hasEntries = true;
      isFirst = false;
      yield `        - ${flow(entry)}\n`;
    }
  }
  if (!hasEntries) yield '    registers: {}\n';
}

/** The key `clock` of a device; absent when the clock runs at the usual speed. */
function clockText({ clock: { settings } }: Device, written: unknown): string {
  const isUsual = settings.speed === 1 && !settings.paused;
  return isUsual && written === undefined ? '' : `    clock: ${flow(settings)}\n`;
}

/** The comments about what a native file can't say of the device of a pymodbus file. */
function* differences({ tables }: DeviceDefinition, device: Device): Generator<string> {
  const windows = Object.values(tables);
  const comment = (text: string) => `    # ${text}\n`;
  yield comment('From a pymodbus file. Clients count as a native device counts.');
  if (sharesCells(device))
    yield comment('Its tables were one list of registers; here each table has its own.');
  if (windows.some(({ wholeValues }) => wholeValues)) {
    yield comment('It refused to read or write a part of a value; a native device does not.');
  }
}

function identitySource({ identity }: DeviceDefinition): Readonly<Record<string, unknown>> {
  const { extended, ...names } = identity;
  if (!extended && Object.keys(names).length === 0) return {};
  return { identity: { ...names, ...(extended && { extended: Object.fromEntries(extended) }) } };
}

function isAsConfigured({ tables }: Device): boolean {
  return Object.values(tables).every(({ window: { image } }) => image.isAsConfigured(0, image.size));
}
