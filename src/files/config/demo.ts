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

const DEMO = {
  devices: { meter: METER, switch: SWITCH },
  lines: {
    demo: {
      serial: { path: 'virtual', baudRate: 9600, parity: 'none' },
      units: { 1: 'meter', 2: 'switch' },
    },
    lan: { tcp: { host: '127.0.0.1', port: 5020 }, units: { 1: 'meter', 2: 'switch' } },
  },
  api: { host: '127.0.0.1', port: 8080 },
};

/**
 * Builds the configuration of the built-in demo with the code that reads native files. Only `api` can have
 * mistakes.
 */
export function demoConfiguration(api: ApiOverrides, findings: Findings): Configuration {
  const noPymodbus = () => ({ ok: false, messages: [], warnings: [] }) as const;
  const devices = new NativeDeviceReader(noPymodbus, recordingsIn('.'));
  return nativeConfiguration(new At(DEMO, findings), { devices, api, directory: '.' });
}
