import { unknownName } from '../../schema/nearest.js';
import { check, namedEntries, sectionOf } from '../../schema/parts.js';
import type { Issue } from '../../schema/problem.js';
import { type ApiOverrides, resolveApi } from '../api-definition.js';
import type { Configuration, DeviceRegisters } from '../configuration.js';
import { pymodbusDevice } from './device.js';
import { pymodbusFileSections } from './schema.js';
import { pymodbusServer } from './server.js';

export interface PymodbusChoice extends ApiOverrides {
  /** Name in `server_list`; when absent "server", or the only one. */
  readonly server?: string;
  /** Name in `device_list`; when absent "device", or the only one. */
  readonly device?: string;
}

/** Where pymodbus.simulator serves REST. */
const PYMODBUS_API = { host: '127.0.0.1', port: 8081 };

/**
 * The configuration for one server and one device of a pymodbus file's data, unless `issues` got something.
 * Mistakes in servers and devices that were not chosen don't count. Never throws.
 */
export function pymodbusConfiguration(
  value: unknown,
  choice: PymodbusChoice,
  issues: Issue[],
): Configuration | undefined {
  const file = checkFileSections(value, issues);
  if (!file) return undefined;
  const server = choose(SERVERS, file.servers, choice.server, '--modbus_server', issues);
  const device = choose(DEVICES, file.devices, choice.device, '--modbus_device', issues);
  const deviceName = device?.name ?? '';
  const registers = device && pymodbusDevice(device.content, ['device_list', device.name], issues);
  const served =
    server && pymodbusServer(server.name, server.content, deviceName, ['server_list', server.name], issues);
  const api = resolveApi({}, choice, issues, PYMODBUS_API);
  if (!registers || !served) return undefined;
  return {
    devices: [{ name: deviceName, identity: served.identity, extras: {}, ...registers }],
    lines: [served.line],
    faults: [],
    api,
    directory: '.',
  };
}

/** The registers of one device of a pymodbus file's data; undefined after telling why not. */
export function pymodbusDeviceNamed(
  value: unknown,
  name: string | undefined,
  issues: Issue[],
): DeviceRegisters | undefined {
  const entries = namedEntries(sectionOf(value, 'device_list'), 'devices by name', ['device_list'], issues);
  const device = choose(DEVICES, entries, name, 'device', issues);
  return device && pymodbusDevice(device.content, ['device_list', device.name], issues);
}

/** Checks every server and every device of a pymodbus file's data. */
export function checkPymodbus(value: unknown, issues: Issue[]): void {
  const file = checkFileSections(value, issues);
  for (const [name, content] of file?.servers ?? [])
    pymodbusServer(name, content, '', ['server_list', name], issues);
  for (const [name, content] of file?.devices ?? []) pymodbusDevice(content, ['device_list', name], issues);
}

/** Is this the data of a pymodbus file, by its top-level keys? */
export function isPymodbus(value: unknown): boolean {
  return sectionOf(value, 'server_list') !== undefined || sectionOf(value, 'device_list') !== undefined;
}

type Entries = [name: string, content: unknown][] | undefined;

function checkFileSections(
  value: unknown,
  issues: Issue[],
): { servers: Entries; devices: Entries } | undefined {
  if (!namedEntries(value, 'a mapping with server_list and device_list', [], issues)) return undefined;
  if (!isPymodbus(value) && sectionOf(value, 'devices') !== undefined) {
    issues.push({ path: [], message: 'this is no file of pymodbus.simulator: use it with --config' });
    return undefined;
  }
  check(pymodbusFileSections, value, [], issues);
  return {
    servers: namedEntries(sectionOf(value, 'server_list'), 'servers by name', ['server_list'], issues),
    devices: namedEntries(sectionOf(value, 'device_list'), 'devices by name', ['device_list'], issues),
  };
}

const SERVERS = { list: 'server_list', kind: 'server', usual: 'server' } as const;
const DEVICES = { list: 'device_list', kind: 'device', usual: 'device' } as const;

function choose(
  { list, kind, usual }: typeof SERVERS | typeof DEVICES,
  entries: Entries,
  wanted: string | undefined,
  option: string,
  issues: Issue[],
): { name: string; content: unknown } | undefined {
  if (!entries) return undefined;
  const known = entries.map(([name]) => name);
  const only = entries.length === 1 ? known[0] : undefined;
  const name = wanted ?? (known.includes(usual) ? usual : only);
  const entry = entries.find(([each]) => each === name);
  if (entry) return { name: entry[0], content: entry[1] };
  const message =
    wanted === undefined
      ? `there is no ${kind} named ${usual}; choose one with ${option}: ${known.join(', ')}`
      : unknownName(kind, wanted, known);
  issues.push({ path: [list], message });
  return undefined;
}
