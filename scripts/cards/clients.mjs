import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileWithLibmodbus, findLibmodbus } from '../../test/support/libmodbus.mjs';
import { installNodeRed, nodeRedVersion } from '../../test/support/node-red.mjs';

/*
 * The clients for report cards. Each poller, except mbpoll and Node-RED, does the same: it reads two
 * registers each from 0 and from 10 of unit 1, one request after another, rests for 250 ms and starts again.
 * It sets the time-out and leaves all other defaults of its library, continues with the next request after an
 * error, reconnects if the connection has closed, and writes the values that it read last to a file, which
 * the observer reads.
 */

/** pymodbus 3.0 accepts only whole seconds. */
const TIMEOUT_S = 1;
/** A busy machine needs more: `CARD_TIMEOUT_MS=1000`. pymodbus still uses whole seconds. */
export const TIMEOUT_MS = Number(process.env.CARD_TIMEOUT_MS ?? 300);
export const BAUD_RATE = 9600;

const here = fileURLToPath(new URL('.', import.meta.url));
const require = createRequire(import.meta.url);

/** @typedef {'rtu' | 'tcp'} Kind */

/**
 * @typedef {object} Client
 * @property {string} name
 * @property {number} timeoutMs
 * @property {(directory: string) => string | undefined} prepare Does the one-time setup, in a directory for
 * build output; returns why the client can't be tested, if so.
 * @property {readonly Kind[]} [kinds] The lines that it supports; default: both.
 * @property {(directory: string) => string} version
 * @property {(kind: Kind, place: {directory: string, file: string}) => string} command A command line in
 * which the endpoints of the line `bus` are to be filled in.
 * @property {(file: string) => string} observer A command that prints the values read.
 */

/** @type {(kind: Kind) => string} */
const placeOf = (kind) =>
  kind === 'rtu' ? `{lines.bus.path} ${BAUD_RATE}` : '{lines.bus.host} {lines.bus.port}';

/** @type {(file: string) => string} */
const printed = (file) => `cat ${file}`;

/** @type {(command: string, args: readonly string[]) => {ok: boolean, text: string}} */
export function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  return { ok: status === 0, text: (error?.message ?? `${stdout}${stderr}`).trim() };
}

/**
 * The version of a Debian package, because the version that a program prints is not always right.
 * @type {(name: string) => string}
 */
export const packaged = (name) => run('dpkg-query', ['--show', name]).text.split('\t').at(-1) ?? '';

/** @type {(name: string) => Client} */
const nodeClient = (name) => ({
  name,
  timeoutMs: TIMEOUT_MS,
  prepare: () => undefined,
  version: () => require(`${name}/package.json`).version,
  command: (kind, { file }) =>
    `exec ${process.execPath} ${join(here, `${name}.mjs`)} ${placeOf(kind)} ${TIMEOUT_MS} ${file}`,
  observer: printed,
});

/** @type {readonly Client[]} */
export const CLIENTS = [
  {
    name: 'mbpoll',
    timeoutMs: TIMEOUT_MS,
    prepare: () => (run('mbpoll', ['-V']).ok ? undefined : 'mbpoll is not installed (apt install mbpoll)'),
    version: () => packaged('mbpoll'),
    // It sends one request, and counts registers from 1. `stdbuf` makes its output line-buffered, as on a
    // terminal.
    command: (kind, { file }) => {
      const options = `-a 1 -t 4 -r 1 -c 2 -l 250 -o ${TIMEOUT_MS / 1000}`;
      const line =
        kind === 'rtu'
          ? `-m rtu -b ${BAUD_RATE} -P none {lines.bus.path}`
          : '-m tcp -p {lines.bus.port} {lines.bus.host}';
      return `exec stdbuf -oL mbpoll ${options} ${line} > ${file} 2>&1`;
    },
    observer: (file) => `tail -n 60 ${file} | grep '^.1.:' | tail -n 1`,
  },
  {
    name: 'libmodbus',
    timeoutMs: TIMEOUT_MS,
    prepare: (directory) => {
      const library = findLibmodbus();
      if (!library.ok) return library.missing;
      compileWithLibmodbus(join(here, 'libmodbus.c'), join(directory, 'libmodbus'), library.flags);
      return undefined;
    },
    version: () => packaged('libmodbus5'),
    command: (kind, { directory, file }) =>
      `exec ${join(directory, 'libmodbus')} ${placeOf(kind)} ${TIMEOUT_MS} ${file}`,
    observer: printed,
  },
  nodeClient('modbus-serial'),
  nodeClient('jsmodbus'),
  {
    name: 'pymodbus',
    timeoutMs: TIMEOUT_S * 1000,
    prepare: () =>
      run('/usr/bin/python3', ['-c', 'import pymodbus, serial, serial_asyncio']).ok
        ? undefined
        : 'pymodbus is not installed (apt install python3-pymodbus python3-serial-asyncio)',
    version: () => packaged('python3-pymodbus'),
    command: (kind, { file }) =>
      `exec /usr/bin/python3 -B ${join(here, 'poll_pymodbus.py')} ${placeOf(kind)} ${TIMEOUT_S} ${file}`,
    observer: printed,
  },
  {
    name: 'node-red',
    timeoutMs: TIMEOUT_MS,
    kinds: ['tcp'],
    prepare: installNodeRed,
    version: nodeRedVersion,
    command: (kind, { directory, file }) =>
      `exec ${process.execPath} ${join(here, 'node-red.mjs')} ${placeOf(kind)} ${TIMEOUT_MS} ${file} ${directory}`,
    observer: printed,
  },
];
