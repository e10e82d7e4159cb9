import type { DeviceDefinition } from '../config/configuration.js';
import { type DependentPoint, networkOf, tellDependencies } from '../config/native/dependencies.js';
import { NativeDeviceReader } from '../config/native/device.js';
import { checkName } from '../config/native/names.js';
import { tellReactionUses } from '../config/native/reaction-uses.js';
import type { OpenRecording } from '../config/recording-file.js';
import type { At } from '../schema/at.js';

/** A pymodbus file may have 8 MiB, and while it is read no line is served. */
const NOT_WHILE_SERVING = 'a pymodbus file is read at the start only; expected registers';

/**
 * Reads a device that is to be added to those that are there; undefined after telling its mistakes.
 * @param at the entry of the device, as it would stand in a native file
 * @param network the values of the devices that are there
 */
export function readNewDevice(
  name: string,
  at: At,
  {
    network,
    recordings,
  }: { readonly network: readonly DependentPoint[]; readonly recordings: OpenRecording },
): DeviceDefinition | undefined {
  const pymodbusDevices = () => ({ ok: false, messages: [NOT_WHILE_SERVING], warnings: [] }) as const;
  return at.unlessWrong(() => {
    checkName('device', name, at.key('name'));
    const definition = new NativeDeviceReader(pymodbusDevices, recordings).read(name, at);
    if (!definition) return undefined;
    const all = [...network, ...networkOf([definition])];
    tellDependencies(all, () => at);
    tellReactionUses([definition], all, () => at);
    return definition;
  });
}
