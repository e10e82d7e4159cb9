import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { dist, makeTempDir } from '../test/support/program.mjs';
import { BAUD_RATE, CLIENTS } from './cards/clients.mjs';

/*
 * node scripts/report-cards.mjs [CLIENT...] [--lines rtu,tcp] [--checks a,b] [--limit 20m] [--seed 1] [--out
 * cards]
 *   [--together 1] [--realtime] [--fuzz MINUTES]
 *
 * Tests third-party clients, each on RTU, on a virtual line that paces its bytes, and on Modbus TCP, and
 * writes cards/CLIENT-LINE.json and .html, the source of docs/report-cards.md. If a client breaks down, the
 * checks left are tested with a new one, CLIENT-LINE-2 and so on. Clients that are not installed are left
 * out. --together N tests N at a time. With --realtime, as root, simulators and clients run before everything
 * else on the machine (chrt --rr 20), so that its load affects the results less. Exits with 1 if one was not
 * tested. With --fuzz, each client is fuzzed instead, for that many minutes, with the seeds from --seed on,
 * at most --limit each, alternately with an observer (odd seeds) and without: a run ends with the first
 * failure.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    lines: { type: 'string', default: 'rtu,tcp' },
    checks: { type: 'string' },
    limit: { type: 'string', default: '20m' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string', default: 'cards' },
    together: { type: 'string', default: '1' },
    realtime: { type: 'boolean', default: false },
    fuzz: { type: 'string' },
  },
});
const kinds = /** @type {import('./cards/clients.mjs').Kind[]} */ (values.lines.split(','));
const unknown = [
  ...positionals.filter((name) => !CLIENTS.some((client) => client.name === name)),
  ...kinds.filter((kind) => kind !== 'rtu' && kind !== 'tcp'),
];
const together = Number(values.together);
if (unknown.length > 0 || !(Number.isInteger(together) && together > 0)) {
  console.error(
    `expected clients from ${CLIENTS.map(({ name }) => name).join(', ')}, --lines from rtu, tcp, and --together a whole number, at least 1`,
  );
  process.exit(2);
}

const out = resolve(values.out);
const directory = makeTempDir();
mkdirSync(out, { recursive: true });
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));

const wanted = CLIENTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const clientTests = wanted.flatMap((client) => {
  const missing = client.prepare(directory);
  const on = kinds.filter((kind) => client.kinds?.includes(kind) ?? true);
  if (missing === undefined) return on.map((kind) => ({ client, kind }));
  console.log(`${client.name}: left out: ${missing}`);
  return [];
});

/** A program that starts needs a whole core, which another client test would mistake for a pause of its client. */
const START_MS = 10_000;
/** With less time than this left for a client, no further run begins. */
const SHORTEST_RUN_MS = 60_000;
/** Maximum number of client tests of one client on one line: some break down repeatedly. */
const MOST_ROUNDS = 6;

/**
 * @typedef {object} Report
 * @property {readonly string[]} conclusions
 * @property {number} durationMs
 * @property {readonly {id: string, verdict: string, summary: string}[]} checks
 */

let failures = 0;
await Promise.all(
  Array.from({ length: together }, async (_, i) => {
    await sleep(i * START_MS);
    for (let next = clientTests.shift(); next; next = clientTests.shift())
      await (values.fuzz === undefined ? testClient(next) : fuzz(next, Number(values.fuzz) * 60_000));
  }),
);
process.exitCode = failures > 0 ? 1 : 0;

/**
 * Tests a client. Checks not reached because it broke down are tested again with a new one.
 * @param {{client: import('./cards/clients.mjs').Client, kind: import('./cards/clients.mjs').Kind}} client
 * test
 */
async function testClient({ client, kind }) {
  console.log(`${client.name} on ${kind}: ${client.version(directory)}`);
  let checks = values.checks;
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const report = await testOnce(client, kind, { round, checks });
    if (!report) return;
    const left = report.checks.filter(isLeft).map(({ id }) => id);
    if (left.length === 0 || left.length === report.checks.length) return;
    checks = left.join();
  }
}

/**
 * Fuzzes a client repeatedly until its time is used up.
 * @param {{client: import('./cards/clients.mjs').Client, kind: import('./cards/clients.mjs').Kind}} client
 * test
 * @param {number} timeMs
 */
async function fuzz({ client, kind }, timeMs) {
  console.log(`${client.name} on ${kind}: ${client.version(directory)}`);
  const until = Date.now() + timeMs;
  for (let seed = Number(values.seed); until - Date.now() > SHORTEST_RUN_MS; seed++) {
    const name = `${client.name}-${kind}-seed-${seed}`;
    const file = join(directory, `${name}.read`);
    const config = join(directory, `${name}.json`);
    const path = join(out, name);
    const begun = Date.now();
    const limitS = Math.min(Number(values.limit.replace(/m$/, '')) * 60, Math.floor((until - begun) / 1000));
    writeFileSync(config, JSON.stringify(await configurationFor(kind, join(directory, `${name}.port`))));
    const args = [
      ...[join(dist, 'main.js'), 'fuzz', 'bus', '--config', config, '--seed', String(seed)],
      ...['--limit', `${limitS}s`, '--dut', client.command(kind, { directory, file })],
      ...(seed % 2 === 1 ? ['--observer-command', client.observer(file)] : []),
      ...['--json', `${path}.json`, '--scenario', `${path}.yaml`, '--capture', `${path}.pcapng`],
    ];
    const code = await ended([process.execPath], args, name);
    const tookS = Math.round((Date.now() - begun) / 1000);
    if (code !== 0 && code !== 1) {
      failures++;
      return;
    }
    /** @type {{conclusions: readonly string[]}} */
    const { conclusions } = JSON.parse(readFileSync(`${path}.json`, 'utf8'));
    console.log(`${name}, ${tookS} s: ${conclusions.join(' ')}`);
  }
}

/**
 * @param {import('./cards/clients.mjs').Client} client
 * @param {import('./cards/clients.mjs').Kind} kind
 * @param {{round: number, checks: string | undefined}} part
 * @returns {Promise<Report | undefined>}
 */
async function testOnce(client, kind, { round, checks }) {
  const name = `${client.name}-${kind}${round === 1 ? '' : `-${round}`}`;
  const file = join(directory, `${name}.read`);
  const config = join(directory, `${name}.json`);
  const path = join(out, name);
  writeFileSync(config, JSON.stringify(await configurationFor(kind, join(directory, `${name}.port`))));
  const args = [
    ...[
      join(dist, 'main.js'),
      'test-client',
      'bus',
      '--config',
      config,
      '--unit',
      '1',
      '--seed',
      values.seed,
    ],
    ...['--limit', values.limit, ...(checks === undefined ? [] : ['--checks', checks])],
    ...['--dut', client.command(kind, { directory, file }), '--observer-command', client.observer(file)],
    ...['--json', `${path}.json`, '--html', `${path}.html`],
  ];
  const program = values.realtime ? ['chrt', '--rr', '20', process.execPath] : [process.execPath];
  const code = await ended(program, args, name);
  // 2: it was not tested at all, or not to the end.
  if (code !== 0 && code !== 1) {
    failures++;
    return undefined;
  }
  /** @type {Report} */
  const report = JSON.parse(readFileSync(`${path}.json`, 'utf8'));
  console.log(`${name}: ${summary(report)}`);
  return report;
}

/**
 * True if the client had broken down before, so that the check says nothing.
 * @param {Report['checks'][number]} check
 */
function isLeft({ verdict, summary }) {
  return verdict === 'not run' || summary.includes('before the check');
}

/**
 * @param {import('./cards/clients.mjs').Kind} kind
 * @param {string} link
 */
async function configurationFor(kind, link) {
  const line =
    kind === 'rtu'
      ? { serial: { path: 'virtual', link, baudRate: BAUD_RATE, parity: 'none', pacing: { chunk: 16 } } }
      : { tcp: { host: '127.0.0.1', port: await freePort() } };
  return {
    devices: {
      meter: {
        registers: { holding: [{ address: 0, value: Array.from({ length: 20 }, (_, i) => 100 + i) }] },
      },
    },
    lines: { bus: { ...line, units: { 1: 'meter' } } },
  };
}

/** Finds a free port, because a line that is closed for some time must come back on the same one. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Runs a command, with its output in the directory of the reports.
 * @param {readonly string[]} command
 * @param {readonly string[]} args
 * @param {string} name
 * @returns {Promise<number | null>} its exit code
 */
function ended([program = '', ...before], args, name) {
  return new Promise((done) => {
    const child = spawn(program, [...before, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    /** @type {Buffer[]} */
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(bytes));
    child.once('error', ({ message }) => output.push(Buffer.from(message)));
    child.once('close', (code) => {
      writeFileSync(join(out, `${name}.txt`), Buffer.concat(output));
      if (code !== 0 && code !== 1)
        console.error(`${name}: exited with code ${code}; see ${join(out, `${name}.txt`)}`);
      done(code);
    });
  });
}

/**
 * The conclusions, and how many checks have each verdict.
 * @param {Report} report
 */
function summary({ conclusions, checks, durationMs }) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { verdict } of checks) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const verdicts = Array.from(counts, ([verdict, count]) => `${count} ${verdict}`).join(', ');
  return `${verdicts} in ${Math.round(durationMs / 1000)} s. ${conclusions.join(' ')}`;
}
