import { HERE, type Platform } from '../../common/platform.js';
import { At } from '../../common/schema/at.js';
import type { Findings } from '../../common/schema/findings.js';
import type { ApiOverrides } from './api-definition.js';
import type { Configuration } from './configuration.js';
import { NativeDeviceReader } from './native/device.js';
import { nativeConfiguration } from './native/file.js';
import { recordingsIn } from './recording-file.js';

/** A typical energy meter: measurements as floats, counters, status bits, set points. */
const METER = {
  identity: {
    vendorName: 'modbus-sim',
    productCode: 'demo-meter',
    majorMinorRevision: '1.0',
    productName: 'Demo energy meter',
    modelName: 'three-phase',
    userApplicationName: 'demo',
  },
  registers: {
    coils: [
      { address: 0, value: [1, 0], write: true },
      { address: 8, quantity: 8, write: true },
    ],
    discrete: [{ address: 0, value: [1, 1, 1, 0, 0, 0, 0, 0] }],
    holding: [
      { address: 0, value: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], write: true },
      { address: 100, type: 'string', value: 'SIM-000001', length: 8 },
      { address: 110, action: 'timestamp' },
      { address: 120, type: 'float32', value: [50, 400], write: true },
      { address: 124, type: 'int16', value: -5, write: true },
    ],
    input: [
      { address: 0, type: 'float32', value: [230.1, 229.8, 230.6] },
      { address: 6, type: 'float32', value: 4.2, action: 'random', min: 4, max: 4.5 },
      { address: 8, type: 'float32', value: [4.1, 4.3] },
      { address: 12, type: 'float32', value: 2890.5 },
      { address: 14, type: 'float32', value: 49.98, action: 'random', min: 49.95, max: 50.05 },
      { address: 20, type: 'uint32', value: 123456, action: 'increment' },
      { address: 22, type: 'uint64', value: 9876543210 },
      { address: 30, type: 'bits', value: 0x0005 },
      { address: 31, type: 'int16', value: 231 },
      { address: 40, type: 'uint32', action: 'uptime' },
    ],
  },
};

const SWITCH = {
  identity: { vendorName: 'modbus-sim', productCode: 'demo-switch', majorMinorRevision: '1.0' },
  registers: {
    coils: [{ address: 0, value: [0, 1, 0, 1], write: true }],
    discrete: [{ address: 0, value: [0, 1, 0, 1] }],
    holding: [{ address: 0, value: [10, 20, 30, 40], write: true }],
    input: [{ address: 0, value: 0, action: 'increment', min: 0, max: 100 }],
  },
};

/** The line of the demo that speaks RTU: a virtual one, or where there is none, TCP. */
function rtuLine({ isLinux }: Platform): object {
  return isLinux
    ? { serial: { path: 'virtual', baudRate: 9600, parity: 'none' } }
    : { tcp: { host: '127.0.0.1', port: 5021 }, framing: 'rtu' };
}

/**
 * Says what the demo lacks on a system without virtual lines, and where its console is; undefined on Linux.
 * @param address of REST
 */
export function demoNote({ name, isLinux, isWindows }: Platform, address: string): string | undefined {
  if (isLinux) return undefined;
  const pair = isWindows ? ' com0com makes a pair of COM ports for a line of your own.' : '';
  return `console: ${address}/\nThere is no virtual serial line on ${name}: line demo speaks RTU over TCP.${pair}`;
}

/**
 * Builds the configuration of the built-in demo with the code that reads native files. Only `api` can have
 * mistakes.
 */
export function demoConfiguration(api: ApiOverrides, findings: Findings, platform = HERE): Configuration {
  const units = { 1: 'meter', 2: 'switch' };
  const demo = {
    devices: { meter: METER, switch: SWITCH },
    lines: {
      demo: { ...rtuLine(platform), units },
      lan: { tcp: { host: '127.0.0.1', port: 5020 }, units },
    },
    api: { host: '127.0.0.1', port: 8080 },
  };
  const noPymodbus = () => ({ ok: false, messages: [], warnings: [] }) as const;
  const devices = new NativeDeviceReader(noPymodbus, recordingsIn('.'));
  return nativeConfiguration(new At(demo, findings), { devices, api, directory: '.' });
}
