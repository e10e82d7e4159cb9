import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileWithLibmodbus, findLibmodbus } from '../../test/support/libmodbus.mjs';
import { installNodeRed, nodeRedVersion } from '../../test/support/node-red.mjs';
import { dist } from '../../test/support/program.mjs';
import { packaged, run } from './clients.mjs';

/*
 * The servers for report cards. Each has unit 1 with 300 registers and 2100 bits in each table, and accepts
 * writes to all of its holding registers and coils.
 */

const here = fileURLToPath(new URL('.', import.meta.url));
const require = createRequire(import.meta.url);
export const BAUD_RATE = 19_200;

/** @typedef {'rtu' | 'tcp'} Kind */

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {readonly Kind[]} kinds
 * @property {(directory: string) => string | undefined} prepare Does the one-time setup, in a directory for
 * build output and packages; returns why the server can't be tested, if so.
 * @property {(directory: string) => string} version
 * @property {(place: string, directory: string) => readonly string[]} command A program with its arguments;
 * the place is a port of 127.0.0.1 or the path of a serial port.
 */

/** @type {(name: string, kinds?: readonly Kind[]) => Server} */
const nodeServer = (name, kinds = ['tcp', 'rtu']) => ({
  name,
  kinds,
  prepare: () => undefined,
  version: () => require(`${name}/package.json`).version,
  command: serveWith(name),
});

/** @type {(name: string) => Server['command']} */
const serveWith = (name) => (place, directory) => [
  process.execPath,
  join(here, 'serve.mjs'),
  ...[name, place, `${BAUD_RATE}`, directory],
];

/**
 * A package that this project does not use.
 * @type {(name: string, version: string) => Server}
 */
const installedServer = (name, version) => ({
  ...nodeServer(name, ['tcp']),
  prepare: (directory) => {
    if (existsSync(join(directory, 'node_modules', name))) return undefined;
    const options = ['--prefix', directory, '--no-audit', '--no-fund', '--ignore-scripts', '--no-save'];
    const { status, stderr } = spawnSync('npm', ['install', ...options, `${name}@${version}`], {
      encoding: 'utf8',
    });
    return status === 0 ? undefined : `npm could not install ${name}: ${stderr.trim()}`;
  },
  version: () => version,
});

/** @type {readonly Server[]} */
export const SERVERS = [
  {
    name: 'libmodbus',
    kinds: ['tcp', 'rtu'],
    prepare: (directory) => {
      const library = findLibmodbus();
      if (!library.ok) return library.missing;
      compileWithLibmodbus(
        join(here, 'serve-libmodbus.c'),
        join(directory, 'serve-libmodbus'),
        library.flags,
      );
      return undefined;
    },
    version: () => packaged('libmodbus5'),
    command: (place, directory) => [join(directory, 'serve-libmodbus'), place, `${BAUD_RATE}`],
  },
  {
    name: 'pymodbus',
    kinds: ['tcp', 'rtu'],
    prepare: () =>
      run('/usr/bin/python3', ['-c', 'import pymodbus, serial, serial_asyncio']).ok
        ? undefined
        : 'pymodbus is not installed (apt install python3-pymodbus python3-serial-asyncio)',
    version: () => packaged('python3-pymodbus'),
    command: (place) => ['/usr/bin/python3', '-B', join(here, 'serve_pymodbus.py'), place, `${BAUD_RATE}`],
  },
  nodeServer('modbus-serial'),
  nodeServer('jsmodbus'),
  {
    ...nodeServer('node-red', ['tcp']),
    prepare: installNodeRed,
    version: nodeRedVersion,
  },
  installedServer('modbus-stream', '0.46.0'),
  installedServer('modbus-tcp', '0.4.13'),
  {
    name: 'modbus-sim',
    kinds: ['tcp', 'rtu'],
    prepare: () => undefined,
    version: () => require('../../package.json').version,
    command: (place, directory) => {
      const file = join(directory, `modbus-sim-${place.replaceAll('/', '-')}.json`);
      writeFileSync(file, JSON.stringify(ownConfiguration(place)));
      return [process.execPath, join(dist, 'main.js'), '--config', file];
    },
  },
];

/** @param {string} place */
function ownConfiguration(place) {
  const line = place.startsWith('/')
    ? { serial: { path: place, baudRate: BAUD_RATE, parity: 'none' } }
    : { tcp: { host: '127.0.0.1', port: Number(place) } };
  const list = (/** @type {number} */ length, /** @type {(i: number) => unknown} */ value) => [
    { address: 0, value: Array.from({ length }, (_, i) => value(i)), write: true },
  ];
  const registers = {
    holding: list(300, (i) => 1000 + i),
    input: list(300, (i) => 2000 + i),
    coils: list(2100, (i) => i % 3 !== 0),
    discrete: list(2100, (i) => i % 3 !== 1),
  };
  return {
    devices: { meter: { registers } },
    lines: { bus: { ...line, units: { 1: 'meter' } } },
    api: { port: 0 },
  };
}
