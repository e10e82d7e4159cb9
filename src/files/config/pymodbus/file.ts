import type { At } from '../../../common/schema/at.js';
import { unknownName } from '../../../common/schema/nearest.js';
import { type ApiOverrides, resolveApi } from '../api-definition.js';
import type { Configuration, DeviceRegisters } from '../configuration.js';
import { hasBitfields, pymodbusDevice } from './device.js';
import { pymodbusFileSections } from './schema.js';
import { pymodbusServer } from './server.js';

export interface PymodbusChoice extends ApiOverrides {
  /** A name in `server_list`. Without it: "server", or the only one. */
  readonly server?: string;
  /** A name in `device_list`. Without it: "device", or the only one. */
  readonly device?: string;
}

/** The address at which pymodbus.simulator serves REST. */
const PYMODBUS_API = { host: '127.0.0.1', port: 8081 };

/**
 * Builds the configuration for one server and one device of a pymodbus file; undefined when mistakes were
 * reported. Mistakes in servers and devices that were not chosen don't count. Never throws.
 */
export function pymodbusConfiguration(at: At, choice: PymodbusChoice): Configuration | undefined {
  const file = readSections(at);
  if (!file) return undefined;
  const server = choose(SERVERS, file.servers, choice.server, '--modbus_server', at);
  const device = choose(DEVICES, file.devices, choice.device, '--modbus_device', at);
  const deviceName = device?.name ?? '';
  const registers = device && pymodbusDevice(device.content);
  if (device && !registers) nameOthers(device.name, file.devices, at);
  const served = server && pymodbusServer(server.name, deviceName, server.content);
  const api = resolveApi({}, choice, at, PYMODBUS_API);
  if (!registers || !served) return undefined;
  return {
    devices: [{ name: deviceName, identity: served.identity, extras: {}, ...registers }],
    lines: [served.line],
    faults: [],
    api,
    directory: '.',
  };
}

/** Names the other devices when the chosen one can't be read, so that the user can start with one of them. */
function nameOthers(name: string, devices: Entries, at: At): void {
  const others = (devices ?? []).flatMap(([each, content]) =>
    each === name || hasBitfields(content) ? [] : [each],
  );
  if (others.length === 0) return;
  at.key('device_list').wrong(
    `to start without device ${name}, choose another one with --modbus_device: ${others.join(', ')}`,
  );
}

/**
 * Builds the registers of one device of a pymodbus file; undefined after reporting why that is impossible.
 */
export function pymodbusDeviceNamed(at: At, name: string | undefined): DeviceRegisters | undefined {
  const entries = at.key('device_list').entries('devices by name');
  const device = choose(DEVICES, entries, name, 'device', at);
  return device && pymodbusDevice(device.content);
}

/** Checks every server and every device of a pymodbus file. */
export function checkPymodbus(at: At): void {
  const file = readSections(at);
  for (const [name, content] of file?.servers ?? []) pymodbusServer(name, '', content);
  const devices = (file?.devices ?? []).map(([, content]) => content);
  // One sentence about the first device with such types is enough for all of them.
  const [first] = devices.filter(hasBitfields);
  for (const content of devices) if (content === first || !hasBitfields(content)) pymodbusDevice(content);
}

/** True when data is that of a pymodbus file, by its top-level keys. */
export function isPymodbus(at: At): boolean {
  return at.key('server_list').value !== undefined || at.key('device_list').value !== undefined;
}

type Entries = [name: string, content: At][] | undefined;

function readSections(at: At): { servers: Entries; devices: Entries } | undefined {
  if (!at.entries('a mapping with server_list and device_list')) return undefined;
  if (!isPymodbus(at) && at.key('devices').value !== undefined) {
    return at.wrong('this is no file of pymodbus.simulator: use it with --config');
  }
  at.check(pymodbusFileSections);
  return {
    servers: at.key('server_list').entries('servers by name'),
    devices: at.key('device_list').entries('devices by name'),
  };
}

const SERVERS = { list: 'server_list', kind: 'server', usual: 'server' } as const;
const DEVICES = { list: 'device_list', kind: 'device', usual: 'device' } as const;

function choose(
  { list, kind, usual }: typeof SERVERS | typeof DEVICES,
  entries: Entries,
  wanted: string | undefined,
  option: string,
  file: At,
): { name: string; content: At } | undefined {
  if (!entries) return undefined;
  const known = entries.map(([name]) => name);
  const only = entries.length === 1 ? known[0] : undefined;
  const name = wanted ?? (known.includes(usual) ? usual : only);
  const entry = entries.find(([each]) => each === name);
  if (entry) return { name: entry[0], content: entry[1] };
  return file
    .key(list)
    .wrong(
      wanted === undefined
        ? `there is no ${kind} named ${usual}; choose one with ${option}: ${known.join(', ')}`
        : unknownName(kind, wanted, known),
    );
}
