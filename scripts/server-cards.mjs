import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { dist, makeTempDir } from '../test/support/program.mjs';
import { BAUD_RATE, SERVERS } from './cards/servers.mjs';

/*
 * node scripts/server-cards.mjs [SERVER...] [--lines tcp,rtu] [--checks a,b] [--seed 1] [--rounds 1] [--out
 * server-cards]
 *   [--directory DIR] [--busy 0] [--limit 4m]
 *
 * Tests third-party servers, on Modbus TCP and on RTU on a pair of pseudo-terminals (socat), and writes
 * server-cards/SERVER-LINE.txt, .json and .html, the source of docs/server-cards.md. A server that exits is
 * restarted after a second. Servers that are not installed are left out; --directory keeps the packages that
 * npm installs. --rounds N tests each N times, with consecutive seeds; --busy N runs N processes at the same
 * time that only burn a core; --limit is passed to test-server. Prints each violation with its bytes. Exits
 * with 1 if a server could not be tested.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    lines: { type: 'string', default: 'tcp,rtu' },
    checks: { type: 'string' },
    seed: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '1' },
    out: { type: 'string', default: 'server-cards' },
    directory: { type: 'string' },
    busy: { type: 'string', default: '0' },
    limit: { type: 'string' },
  },
});
const wrong = positionals.find((name) => !SERVERS.some((server) => server.name === name));
if (wrong !== undefined) {
  console.error(`unknown server ${wrong} (known: ${SERVERS.map(({ name }) => name).join(', ')})`);
  process.exit(2);
}

const out = resolve(values.out);
const directory = values.directory ? resolve(values.directory) : makeTempDir();
for (const each of [out, directory]) mkdirSync(each, { recursive: true });
/** @type {import('node:child_process').ChildProcess[]} */
const running = [];
process.once('exit', () => {
  for (const child of running) child.kill();
  if (!values.directory) rmSync(directory, { recursive: true, force: true });
});
for (let i = 0; i < Number(values.busy); i++) running.push(spawn('sh', ['-c', 'while :; do :; done']));

const START_LIMIT_MS = 60_000;
const RESTART_MS = 1000;
/** How long a server on a serial port may take to open it, in ms. */
const OPEN_MS = 3000;
const SCRATCH = 'holding:0-129,coils:0-1999';

for (const server of SERVERS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  const missing = server.prepare(directory);
  if (missing === undefined) {
    console.log(`${server.name} ${server.version(directory)}`);
    for (const kind of server.kinds.filter((each) => values.lines.split(',').includes(each)))
      await testServerOn(server, kind);
  } else console.log(`${server.name}: left out: ${missing}`);
}
process.exit();

/**
 * @param {import('./cards/servers.mjs').Server} server
 * @param {import('./cards/servers.mjs').Kind} kind
 */
async function testServerOn(server, kind) {
  const name = `${server.name}-${kind}`;
  const { begins, ends } = kind === 'tcp' ? await freePlace() : await newPair(join(directory, name));
  let isOver = false;
  const start = () => {
    const [program = '', ...args] = server.command(`${ends}`, directory);
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    running.push(child);
    let said = '';
    child.stderr?.on('data', (text) => {
      said += text;
    });
    child.once('close', (code, signal) => {
      if (isOver) return;
      console.log(
        `${name}: the server exited with ${code ?? signal}: ${said.trim().split('\n').slice(0, 6).join(' | ')}`,
      );
      setTimeout(() => isOver || start(), RESTART_MS);
    });
  };
  start();
  await isThere(ends);
  for (let round = 0; round < Number(values.rounds); round++)
    await testServer(name, kind, begins, Number(values.seed) + round);
  isOver = true;
  for (const child of running.splice(Number(values.busy))) child.kill();
}

/**
 * @param {string} name
 * @param {import('./cards/servers.mjs').Kind} kind
 * @param {string} place
 * @param {number} seed
 */
async function testServer(name, kind, place, seed) {
  const path = join(out, Number(values.rounds) > 1 ? `${name}-${seed}` : name);
  const where =
    kind === 'tcp' ? ['--tcp', place] : ['--serial', place, '--baud', `${BAUD_RATE}`, '--parity', 'none'];
  const checks = values.checks === undefined ? [] : ['--checks', values.checks];
  const limit = values.limit === undefined ? [] : ['--limit', values.limit];
  const also = [...(kind === 'rtu' ? ['--broadcast'] : []), ...limit];
  const args = [
    join(dist, 'main.js'),
    'test-server',
    ...where,
    '--unit',
    '1',
    '--scratch',
    SCRATCH,
    ...also,
    ...checks,
  ];
  const child = spawn(
    process.execPath,
    [...args, '--seed', `${seed}`, '--json', `${path}.json`, '--html', `${path}.html`],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  /** @type {Buffer[]} */
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(bytes));
  const [code] = await once(child, 'close');
  writeFileSync(`${path}.txt`, Buffer.concat(output));
  if (code !== 0 && code !== 1) {
    process.exitCode = 1;
    console.log(`${name}: exited with code ${code}; see ${path}.txt`);
    return;
  }
  const { checks: found, durationMs, requests } = JSON.parse(readFileSync(`${path}.json`, 'utf8'));
  const count = (/** @type {string} */ verdict) =>
    found.filter((/** @type {{verdict: string}} */ each) => each.verdict === verdict).length;
  const counts = ['conforms', 'violates', 'inconclusive', 'unsupported', 'fact'].map(
    (verdict) => `${count(verdict)} ${verdict}`,
  );
  console.log(
    `${name}, seed ${seed}: ${counts.join(', ')}; ${requests} requests in ${(durationMs / 1000).toFixed(1)} s`,
  );
  for (const { id, verdict, grade, text, exchanges } of found) {
    if (verdict !== 'violates') continue;
    console.log(`  ${grade} ${id}: ${text}`);
    for (const { sent, received } of exchanges.slice(0, 2)) {
      const bytes = (/** @type {readonly {bytes: string}[]} */ pieces) =>
        pieces.map((piece) => piece.bytes.slice(0, 120)).join(' | ');
      console.log(`     ${bytes(sent)}  ->  ${bytes(received) || 'nothing'}`);
    }
  }
}

async function freePlace() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return { begins: `127.0.0.1:${port}`, ends: port };
}

/**
 * Two pseudo-terminals, connected as if by a cable.
 * @param {string} name
 */
async function newPair(name) {
  const [begins, ends] = [`${name}.client`, `${name}.server`];
  running.push(
    spawn('socat', [`pty,raw,echo=0,link=${begins}`, `pty,raw,echo=0,link=${ends}`], { stdio: 'inherit' }),
  );
  await waitFor(() => existsSync(begins) && existsSync(ends));
  return { begins, ends };
}

/**
 * Waits until a server listens; on a serial port, nothing shows this.
 * @param {string | number} end
 */
async function isThere(end) {
  if (typeof end === 'string') return sleep(OPEN_MS);
  return waitFor(
    () =>
      new Promise((done) => {
        const socket = connect(end, '127.0.0.1').on('error', () => done(false));
        socket.once('connect', () => done(Boolean(socket.end())));
      }),
  );
}

/** @param {() => boolean | Promise<boolean>} isTrue */
async function waitFor(isTrue) {
  for (const end = Date.now() + START_LIMIT_MS; !(await isTrue()); await sleep(100))
    if (Date.now() > end) throw new Error('the server was not ready within a minute');
}
