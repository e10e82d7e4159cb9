import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { RawClient, until } from '../../modbus/transport/socket/raw-client.js';
import { type RunningProgram, startProgram } from '../../support/program.mjs';
import { METER, TCP_LINE } from './plant.js';

/** Read holding register 0 of unit 1. */
const READ = Buffer.from('000100000006010300000001', 'hex');

/**
 * A program whose desk dies on SIGUSR2. On SIGWINCH the side of the lines hears no more of it, and finds that it uses the
 * processor without end. A request with the header `X-Compute` has it compute for so many ms; after SIGURG the side of the
 * lines finds that the desk waits for a processor meanwhile. The desk is asked whether it lives every half second, not every
 * two, and each second that it computes counts as four, so that nobody waits so long.
 * @param loadingMs time that a desk computes before it loads its modules
 * @param holdingFile as long as this file exists, a desk sleeps before it loads its modules
 */
export async function startWithMortalDesk(loadingMs = 0, holdingFile = ''): Promise<RunningProgram> {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-desk-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const hook = join(directory, 'hook.cjs');
  writeFileSync(
    hook,
    `let desk;
     process.on('worker', (worker) => { desk = worker; });
     process.on('SIGUSR2', () => desk.terminate());
     process.on('SIGWINCH', () => {
       desk.removeAllListeners('message');
       computed = 0;
     });
     const fs = require('node:fs');
     const read = fs.readFileSync;
     let [computed, starvedAt] = [];
     process.on('SIGURG', () => { starvedAt = 0; });
     fs.readFileSync = (path, ...rest) => {
       const text = read(path, ...rest);
       if (!String(path).endsWith('/schedstat')) return text;
       const [ran, waited] = text.split(' ').map(Number);
       if (computed !== undefined) return [computed += 4e9, waited, 1].join(' ');
       if (starvedAt === undefined) return [ran * 4, waited, 1].join(' ');
       starvedAt ||= ran;
       return [starvedAt, waited + ran - starvedAt, 1].join(' ');
     };
     require('node:module').syncBuiltinESMExports();
     if (!require('node:worker_threads').isMainThread) {
       const { Server } = require('node:http');
       const compute = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); };
       compute(${loadingMs});
       const held = new Int32Array(new SharedArrayBuffer(4));
       while (fs.existsSync(${JSON.stringify(holdingFile)})) Atomics.wait(held, 0, 0, 20);
       const { emit } = Server.prototype;
       Server.prototype.emit = function (name, request, ...rest) {
         const ms = name === 'request' ? Number(request.headers['x-compute']) : 0;
         if (ms > 0) setTimeout(() => Promise.resolve().then(() => compute(ms)));
         return emit.call(this, name, request, ...rest);
       };
     }
     const every = setInterval;
     globalThis.setInterval = (call, ms, ...rest) => every(call, ms === 2000 ? 500 : ms, ...rest);`,
  );
  return startProgram({
    config: { devices: METER, lines: { lan: TCP_LINE } },
    env: { NODE_OPTIONS: `--require ${hook}` },
  });
}

export async function isServed(program: RunningProgram): Promise<boolean> {
  try {
    return (await fetch(`${program.restUrl()}/healthz`)).ok;
  } catch {
    return false;
  }
}

/** Connections of clients of REST whose requests come together. */
export class RestClients {
  readonly #sockets: readonly Socket[];
  readonly #isConnected: Promise<unknown>;

  constructor(program: RunningProgram) {
    const { port, hostname } = new URL(program.restUrl());
    this.#sockets = Array.from({ length: 48 }, () => connect(Number(port), hostname));
    for (const socket of this.#sockets) socket.on('error', () => {}).resume();
    this.#isConnected = Promise.all(this.#sockets.map((socket) => once(socket, 'connect')));
  }

  /** Sends a request of each client. */
  async ask(): Promise<void> {
    await this.#isConnected;
    for (const socket of this.#sockets) socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  }

  end(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Sends a request and waits for its reply. */
export async function poll(client: RawClient): Promise<void> {
  const before = client.received.length;
  client.send(READ);
  await until(() => client.received.length >= before + 11, 'the reply has come');
}

/** Ends the desk by a signal, polls until REST is available again, and checks that the traffic from before is there. */
export async function expectReplaced(
  signal: 'SIGUSR2' | 'SIGWINCH',
  reason: string,
  loadingMs = 0,
): Promise<RunningProgram> {
  const program = await startWithMortalDesk(loadingMs);
  const client = new RawClient(program.tcpPort('lan'));
  await poll(client);
  expect(await isServed(program)).toBe(true);
  process.kill(program.pid, signal);
  const log = () => program.output.stdout + program.output.stderr;
  while (!log().includes('REST is available again')) {
    await poll(client);
    await delay(10);
  }
  expect(log()).toContain(reason);
  await poll(client);
  // The next desk listens at the same address, and has the traffic from before.
  expect(await isServed(program)).toBe(true);
  const page = await fetch(`${program.restUrl()}/api/v1/traffic?limit=1000&kind=request`);
  const { events } = (await page.json()) as { events: readonly { readonly seq: number }[] };
  expect(events.length).toBeGreaterThan(2);
  client.socket.destroy();
  expect(await program.stop()).toBe(0);
  return program;
}

/** Has the desk compute for a time in ms. Resolves when it has begun. */
export async function compute(program: RunningProgram, ms: number): Promise<void> {
  void fetch(`${program.restUrl()}/healthz`, { headers: { 'x-compute': `${ms}` } }).catch(() => {});
  await delay(300);
}
