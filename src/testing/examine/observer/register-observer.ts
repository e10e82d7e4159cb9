import { type DeviceValue, valueAtAddress, valueNamed } from '../../../control/device-value.js';
import type { Device } from '../../../device/device.js';
import { TABLE_NAMES, type TableName } from '../../../device/tables.js';
import { unknownName } from '../../../schema/nearest.js';
import type { Observer } from './observer.js';

/** A register is read without leaving the process. */
const PACE_MS = 50;

/** `meter.holding.100`: a value without a name. */
const LOCATION = /^(.+)\.(\w+)\.(\d{1,5})$/;

/**
 * A register or coil that the client writes what it has read to.
 * @param name `meter.setpoint`, or `meter.holding.100` for a value without a name
 * @returns what is wrong with the name, as a sentence
 */
export function registerObserver(name: string, devices: ReadonlyMap<string, Device>): Observer | string {
  const found = valueFor(name, devices);
  if (typeof found === 'string') return found;
  const { image, location } = found;
  return {
    name: `register ${name}`,
    paceMs: PACE_MS,
    read: async () => {
      image.refresh(location.address, location.cells);
      return { ok: true, text: String(image.valueAt(location)) };
    },
  };
}

function valueFor(name: string, devices: ReadonlyMap<string, Device>): DeviceValue | string {
  const [, owner = '', table = '', address = ''] = LOCATION.exec(name) ?? [];
  const device = devices.get(owner);
  if (device && isTable(table)) {
    const value = valueAtAddress(device, table, Number(address));
    return value ?? `device ${owner} has nothing at ${table} ${address}`;
  }
  const dot = name.lastIndexOf('.');
  const names = [...devices.keys()];
  if (dot < 0) return `expected a device, a dot and the name of a value, as in ${names[0]}.${name}`;
  const named = devices.get(name.slice(0, dot));
  if (!named) return unknownName('device', name.slice(0, dot), names);
  const value = valueNamed(named, name.slice(dot + 1));
  return value ?? unknownName('name', name.slice(dot + 1), [...named.points.named.keys()]);
}

function isTable(name: string): name is TableName {
  return TABLE_NAMES.some((table) => table === name);
}
