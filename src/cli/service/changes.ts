import { isDeepStrictEqual } from 'node:util';
import type { Work } from '../../common/work.js';
import type { Configuration, DeviceDefinition, LineDefinition } from '../../files/config/configuration.js';
import { deviceFingerprint } from '../../simulator/state/fingerprint.js';

/**
 * The differences in a configuration that was read again, except fault rules, which are compared separately.
 */
export interface ConfigurationChanges {
  /** Lines whose definitions have changed. */
  readonly lines: readonly { readonly before: LineDefinition; readonly after: LineDefinition }[];
  readonly newLines: readonly LineDefinition[];
  readonly newDevices: readonly DeviceDefinition[];
  /** Names of lines that are gone. */
  readonly goneLines: readonly string[];
  readonly goneDevices: readonly string[];
  /** Changes that take effect only after a restart, in words such as `device meter`. */
  readonly atRestart: readonly string[];
}

/** Compares the contents of the old and the new file, in slices. Changes made over REST are ignored. */
export function* comparing(before: Configuration, after: Configuration): Work<ConfigurationChanges> {
  const others = new Map(after.lines.map((line) => [line.name, line]));
  const devices = yield* differentDevices(ownDevices(before), ownDevices(after));
  const lines = before.lines.flatMap((line) => {
    const now = others.get(line.name);
    return now && !isDeepStrictEqual(line, now) ? [{ before: line, after: now }] : [];
  });
  return {
    lines,
    newLines: without(after.lines, before.lines),
    newDevices: without(ownDevices(after), before.devices),
    goneLines: without(before.lines, after.lines).map(({ name }) => name),
    goneDevices: without(ownDevices(before), after.devices).map(({ name }) => name),
    atRestart: [
      ...devices.map((name) => `device ${name}`),
      ...(isDeepStrictEqual(before.api, after.api) ? [] : ['api']),
      ...(isDeepStrictEqual(before.mqtt, after.mqtt) ? [] : ['mqtt']),
      ...(isDeepStrictEqual(before.traffic, after.traffic) ? [] : ['traffic']),
    ],
  };
}

interface Named {
  readonly name: string;
}

/** The devices that the file defines itself. Copies are left out: they depend on the units of lines. */
function ownDevices({ devices }: Configuration): DeviceDefinition[] {
  return devices.filter(({ copyOf }) => copyOf === undefined);
}

/** The elements whose names are not used in `others`. */
function without<Each extends Named>(all: readonly Each[], others: readonly Named[]): Each[] {
  const names = new Set(others.map(({ name }) => name));
  return all.filter(({ name }) => !names.has(name));
}

/**
 * The devices whose definitions in the file differ. The parsed form can't be compared: parts of it, such as
 * the functions of a signal, are never equal.
 */
function* differentDevices(
  before: readonly DeviceDefinition[],
  after: readonly DeviceDefinition[],
): Work<string[]> {
  const others = new Map(after.map((device) => [device.name, device]));
  const different: string[] = [];
  for (const device of before) {
    const now = others.get(device.name);
    if (!now || now === device) continue;
    const fingerprint = deviceFingerprint(device);
    yield;
    if (fingerprint !== deviceFingerprint(now)) different.push(device.name);
    yield;
  }
  return different;
}
