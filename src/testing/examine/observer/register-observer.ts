import { failure, type Result, success } from '../../../common/result.js';
import type { Device } from '../../../device/device.js';
import { TABLE_NAMES, type TableName } from '../../../device/tables.js';
import { valueAtAddress } from '../../../simulator/commands/device-value.js';
import type { Simulator } from '../../../simulator/simulator.js';
import type { Observer } from './observer.js';

/** The time between two readings, in ms. Reading a register does not leave the process. */
const PACE_MS = 50;

/** Matches `meter.holding.100`, a value without a name. */
const LOCATION = /^(.+)\.(\w+)\.(\d{1,5})$/;

/**
 * Makes an observer of a register or coil to which the client writes what it has read.
 * @param name `meter.setpoint`, or `meter.holding.100` for a value without a name
 * @returns the observer, or what is wrong with the name, as a sentence
 */
export function registerObserver(name: string, simulator: Simulator): Result<Observer> {
  const found = valueFor(name, simulator);
  if (!found.ok) return found;
  const { image, location, device } = found.value;
  return success({
    name: `register ${name}`,
    device,
    paceMs: PACE_MS,
    read: async () => {
      image.refresh(location.address, location.cells);
      return { ok: true, text: String(image.valueAt(location)) };
    },
  });
}

function valueFor(name: string, { devices, findValue }: Simulator) {
  const [, owner = '', named = '', place = ''] = LOCATION.exec(name) ?? [];
  const isPlace = devices.has(owner) && TABLE_NAMES.some((table) => table === named);
  const found = isPlace ? success({ device: owner, table: named, address: Number(place) }) : findValue(name);
  if (!found.ok) return found;
  const { device, table, address } = found.value;
  const value = valueAtAddress(devices.get(device) as Device, table as TableName, address);
  return value
    ? success({ ...value, device })
    : failure(`device ${device} has nothing at ${table} ${address}`);
}
