import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTempDir, startProgram } from '../../test/support/program.mjs';
import { UNIT, VALUES } from './frames.mjs';

/** @typedef {import('./good-client.mjs').Target} Target */

/** Long enough to collect the garbage of a program this size, even on a busy machine. */
const COLLECTED_MS = 500;

const TOKEN = 'hostile';

/**
 * A line of every kind.
 * @type {Readonly<Record<string, {kind: Exclude<Target['kind'], 'rest'>, framing: Target['framing']}>>}
 */
export const LINES = {
  tcp: { kind: 'tcp', framing: 'socket' },
  'rtu over tcp': { kind: 'tcp', framing: 'rtu' },
  'ascii over tcp': { kind: 'tcp', framing: 'ascii' },
  tls: { kind: 'tls', framing: 'socket' },
  udp: { kind: 'udp', framing: 'socket' },
  'serial rtu': { kind: 'serial', framing: 'rtu' },
  'serial ascii': { kind: 'serial', framing: 'ascii' },
};

/**
 * Starts the built program with these lines.
 * @param {object} [more] further keys of its configuration
 */
export async function startPlant(more = {}) {
  const directory = makeTempDir();
  const probe = join(directory, 'probe');
  const [server, client, ca] = makeCertificates(directory);
  const files = { cert: server.cert, key: server.key, ca: ca.cert };
  const tls = { cert: client.cert, key: client.key, ca: ca.cert };
  const at = {
    tcp: { tcp: { port: 0 } },
    tls: { tls: { port: 0, ...files } },
    udp: { udp: { port: 0 } },
    serial: { serial: { path: 'virtual', baudRate: 115200 } },
  };
  const program = await startProgram({
    env: {
      NODE_OPTIONS: ['collector.mjs', 'loop-probe.mjs']
        .map((file) => `--import ${new URL(file, import.meta.url)}`)
        .join(' '),
      HOSTILE_PROBE: probe,
      MODBUS_SIM_TOKEN: TOKEN,
    },
    config: {
      // The attacker's servers are tested over REST.
      api: { port: 0, mayReach: ['127.0.0.1'] },
      ...more,
      devices: {
        meter: { registers: { holding: [{ address: 0, value: VALUES, write: true }] } },
        large: { registers: { holding: [{ address: 0, quantity: 8192, value: 1 }] } },
      },
      lines: Object.fromEntries(
        Object.entries(LINES).map(([line, { kind, framing }]) => [
          line,
          { ...at[kind], framing, units: { [UNIT]: 'meter' } },
        ]),
      ),
    },
  });
  const targets = Object.entries(LINES).map(([line, { kind, framing }]) => {
    const place = program.output.stdout.match(new RegExp(`^line ${line}: .*? on ([^\\s,]+)`, 'm'))?.[1] ?? '';
    const isSerial = kind === 'serial';
    return /** @type {Target} */ ({
      line,
      kind,
      framing,
      path: isSerial ? place : '',
      port: isSerial ? 0 : Number(place.split(':').at(-1)),
      ...(kind === 'tls' && { tls }),
    });
  });
  /** @type {Target} */
  const rest = {
    line: 'rest',
    kind: 'rest',
    framing: 'socket',
    path: '',
    port: Number(new URL(program.restUrl()).port),
    token: TOKEN,
  };
  return { program, targets, rest, probe, directory };
}

/**
 * The longest stall of the program's event loop since the last query, and the processor time of its longest
 * turn; in ms.
 * @param {string} probe @returns {Promise<{stall: number, work: number}>}
 */
export async function longestTurn(probe) {
  let text = '';
  for await (const chunk of connect(probe)) text += chunk;
  return JSON.parse(text);
}

/** RAM held by a program of `startPlant` after a garbage collection, in MB of 10^6 bytes. @param {number} pid */
export async function heldMb(pid) {
  process.kill(pid, 'SIGUSR2');
  await delay(COLLECTED_MS);
  return residentMb(pid);
}

/** The threads of the program, each with its own heap. */
export const SIDES = /** @type {const} */ (['lines', 'desk']);

/**
 * Size of one thread's heap after a garbage collection, and of the code that V8 has compiled in it, in MB of
 * 10^6 bytes.
 * @param {string} probe @param {typeof SIDES[number]} side
 * @param {string} [snapshot] path for an additional heap snapshot
 */
export async function heapMb(probe, side, snapshot = '') {
  const socket = connect(`${probe}.${side}`).end(snapshot);
  let text = '';
  for await (const chunk of socket) text += chunk;
  const { heapUsed, code } = JSON.parse(text);
  return { used: heapUsed / 1e6, code: code / 1e6 };
}

/** RAM used by a process, including garbage, in MB of 10^6 bytes. @param {number} pid */
export function residentMb(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(status.match(/^VmRSS:\s+(\d+) kB/m)?.[1]) * 1024) / 1e6;
}

/**
 * The maximum of several readings: a virtual line closes a descriptor for some microseconds at each reply, to
 * see whether it has a client.
 * @param {number} pid
 */
export function openDescriptors(pid) {
  return Math.max(...Array.from({ length: 4 }, () => readdirSync(`/proc/${pid}/fd`).length));
}

/** Certificate and key of a line, of a client, and of the CA that signed both. @param {string} directory */
function makeCertificates(directory) {
  const path = (/** @type {string} */ name) => join(directory, name);
  const openssl = (/** @type {string[]} */ ...args) => execFileSync('openssl', args, { stdio: 'pipe' });
  const newKey = (/** @type {string} */ name) =>
    `-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=${name} -keyout`.split(' ');
  const ca = { cert: path('ca.pem'), key: path('ca.key') };
  openssl('req', '-x509', ...newKey('ca'), ca.key, '-days', '2', '-out', ca.cert);
  writeFileSync(path('extensions'), 'basicConstraints=CA:FALSE\n');
  const signed = (/** @type {string} */ name) => {
    const [cert, key, request] = [path(`${name}.pem`), path(`${name}.key`), path(`${name}.csr`)];
    openssl('req', ...newKey(name), key, '-out', request);
    const by = ['-CA', ca.cert, '-CAkey', ca.key, '-CAcreateserial', '-days', '2'];
    openssl('x509', '-req', '-in', request, ...by, '-extfile', path('extensions'), '-out', cert);
    return { cert, key };
  };
  return /** @type {const} */ ([signed('server'), signed('client'), ca]);
}
