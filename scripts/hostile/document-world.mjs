import { UNIT, VALUES } from './frames.mjs';

/** @typedef {import('./requests.mjs').Request} Request */

/** The names that requests use. In addition there is `guard`, which is polled and which no request names. */
export const WORLD = {
  devices: ['meter', 'pump', 'a', 'b'],
  lines: ['lan', 'bench', 'c'],
  values: ['voltage', 'level', 'energy', 'total', 'alarm', 'label'],
  entries: ['answers-for-others', 'answers-too-soon', 'busy-every-other', 'none'],
};

const DEVICES = {
  meter: {
    registers: {
      coils: [{ address: 0, name: 'alarm', write: true, quantity: 1 }],
      holding: [
        { address: 0, value: 2301, name: 'voltage', unit: 'V', scale: 0.1, write: true },
        { address: 1, name: 'level', signal: { sine: { period: '10s', amplitude: 50, offset: 100 } } },
        { address: 2, type: 'uint32', name: 'energy', signal: { counter: { integral: 'level' } } },
        { address: 4, type: 'int64', name: 'total', write: true },
        { address: 10, type: 'string', length: 4, value: 'abc', name: 'label', write: true },
      ],
    },
  },
  pump: {
    registers: {
      holding: [
        { address: 0, value: [1, 2, 3], write: true },
        { address: 9, name: 'voltage' },
      ],
    },
  },
};
const LINES = {
  lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'pump' } },
  bench: { serial: { path: 'virtual' }, units: { 1: 'meter' } },
};

/** The configuration that the requests are about. Each device and line in it can be added again unchanged. */
export const PLAYED = {
  devices: { ...DEVICES, guard: { registers: { holding: [{ address: 0, value: VALUES }] } } },
  lines: { ...LINES, guard: { tcp: { port: 0 }, units: { [UNIT]: 'guard' } } },
};

/** Requests that restore what earlier requests removed, and remove what they added. @returns {Request[]} */
export function restoring() {
  const api = '/api/v1';
  /** @param {string} method @param {string} path @param {object} [body] @returns {Request} */
  const ask = (method, path, body) => ({
    method,
    path: `${api}${path}`,
    operation: 'restoring',
    ...(body && { body: JSON.stringify(body), type: 'application/json' }),
  });
  return [
    ...['c', 'bench', 'lan'].map((line) => ask('DELETE', `/lines/${line}`)),
    ...WORLD.devices.map((device) => ask('DELETE', `/devices/${device}?force=true`)),
    ...Object.entries(DEVICES).map(([name, device]) => ask('POST', '/devices', { name, ...device })),
    ...Object.entries(LINES).map(([name, line]) => ask('POST', '/lines', { name, ...line })),
    ask('POST', '/faults/reset'),
    ask('DELETE', '/traffic/file'),
    ...['slow', 'r1', 'r2', 'r.3', 'restapi-calls'].map((rule) => ask('DELETE', `/faults/${rule}`)),
  ];
}
