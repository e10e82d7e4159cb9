import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { Certificates } from '../modbus/transport/socket/certificates.js';
import { openNotifySocket } from '../support/notify-socket.mjs';
import { startProgram } from '../support/program.mjs';
import type { Around } from './around.js';
import { asked, reply, VALUES } from './asking.js';
import { beforePort } from './hosts.js';
import { mainOf, type Shipped } from './packages.js';
import { type Ended, expectNoStackTrace, run } from './run.js';

/** A running program of a package that serves, asks and connects at one host, and the commands that are used on it. */
export interface Bench {
  readonly shipped: Shipped;
  readonly host: string;
  /** The configuration that it serves. */
  readonly config: string;
  /** Its REST interface, by the host. */
  readonly url: string;
  /** The MQTT broker, by the host. */
  readonly broker: string | undefined;
  /** The runtime directory of its service. */
  readonly runtime: string;
  /** The port of a line on a socket. */
  port(line: string): number;
  /** The path of the serial line, which the package for another system has not. */
  serialPath(): string;
  newDirectory(): string;
  newFile(name: string, content: string | object): string;
  /** Runs a command with the token of the bench, in a directory for temporary files of its own. */
  run(args: readonly string[], how: Parameters<typeof run>[3]): Promise<Ended>;
  /** Asks REST, and expects success. */
  ask(path: string, body?: string | object, method?: string): Promise<Response>;
  /** Resolves when the thread of REST has written which files it has loaded. */
  writeLoaded(): Promise<void>;
  stop(): Promise<void>;
}

const TAKE_COVERAGE = fileURLToPath(new URL('take-coverage.cjs', import.meta.url));
const TOKEN = '2f1c6d0b9a8e47c3b5d1e0f4a6978c12';

/** The lines on TCP, and a device of each: a run has a line for itself. */
const TCP_LINES = { lan: 'meter', tested: 'tested-meter', 'client-tested': 'meter', fuzzed: 'meter' };

/** Benches so far: each has a topic of its own. */
let started = 0;

/** Starts a program of a package, with a line of each kind, REST, a real device and a broker at the host. */
export async function startBench(shipped: Shipped, host: string, around: Around): Promise<Bench> {
  const directory = mkdtempSync(join(around.directory, 'bench-'));
  const newDirectory = () => mkdtempSync(join(directory, 'd-'));
  const newFile = (name: string, content: string | object) => {
    const file = join(newDirectory(), name);
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };
  const at = (port: number) => `${beforePort(host)}:${port}`;
  const broker = around.brokerPort === undefined ? undefined : `mqtt://${at(around.brokerPort)}`;
  const certificates = new Certificates();
  const { cert, key } = certificates.signed('server');
  const meter = {
    registers: { holding: [{ address: 0, value: VALUES, write: true }], coils: [{ address: 0, value: 1 }] },
  };
  const units = { 1: 'meter', 3: 'mirror' };
  const tcpLine = (device: string) => ({ tcp: { host, port: 0 }, units: { ...units, 1: device, 2: device } });
  const config = newFile('bench.json', {
    devices: {
      meter,
      'tested-meter': meter,
      mirror: { real: { tcp: { host, port: around.realPort }, unit: 1 } },
    },
    lines: {
      ...Object.fromEntries(Object.entries(TCP_LINES).map(([name, device]) => [name, tcpLine(device)])),
      secured: { tls: { host, port: 0, cert, key }, units },
      datagrams: { udp: { host, port: 0 }, units },
      ...(shipped.isForThisMachine && { bus: { serial: { path: 'virtual' }, units } }),
    },
    api: { host, port: 0, token: TOKEN },
    traffic: { file: 'traffic', format: 'pcapng' },
    ...(broker && {
      mqtt: { url: broker, topic: `modbus-sim/bench-${++started}`, commands: 'all', sparkplug: true },
    }),
  });
  const runtime = newDirectory();
  const manager = openNotifySocket(join(runtime, 'notify'));
  const loaded = around.loaded && { NODE_V8_COVERAGE: around.loaded };
  const program = await startProgram({
    main: mainOf(shipped),
    args: ['--config', config],
    env: {
      ...{ RUNTIME_DIRECTORY: runtime, NOTIFY_SOCKET: manager.path, ...loaded },
      ...(loaded && { NODE_OPTIONS: `--require ${TAKE_COVERAGE}` }),
    },
  });
  const port = (line: string) =>
    Number(new RegExp(`^${line}:? .*on \\S+:(\\d+)`, 'm').exec(program.output.stdout)?.[1]);
  const url = `http://${at(port('REST'))}`;
  const bench: Bench = {
    ...{ shipped, host, config, url, broker, runtime, newDirectory, newFile },
    port: (line) => port(`line ${line}`),
    serialPath: () => program.serialPath('bus'),
    run(args, how) {
      const own = { TMPDIR: newDirectory(), MODBUS_SIM_TOKEN: TOKEN, MODBUS_SIM_URL: url };
      return run(shipped, args, { ...process.env, ...own, ...loaded }, how);
    },
    async ask(path, body, method = body === undefined ? 'GET' : 'POST') {
      const isBytes = body instanceof Uint8Array;
      const type = isBytes
        ? 'application/octet-stream'
        : `application/${typeof body === 'string' ? 'yaml' : 'json'}`;
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, ...(body !== undefined && { 'content-type': type }) },
        ...(body !== undefined && {
          body: typeof body === 'string' || isBytes ? body : JSON.stringify(body),
        }),
      });
      if (!response.ok) expect.fail(`${path}: ${response.status} ${await response.text()}`);
      return response;
    },
    async writeLoaded() {
      const asked = join(runtime, 'write-loaded');
      writeFileSync(asked, '');
      while (existsSync(asked)) await sleep(20);
    },
    async stop() {
      expect(await program.stop()).toBe(0);
      const printed = program.output.stdout + program.output.stderr;
      expectNoStackTrace(printed);
      // It has never been replaced.
      expect(printed).not.toContain('the REST thread');
      manager.close();
      certificates.remove();
    },
  };
  // Some commands show the traffic that was before.
  expect(await asked(connect(bench.port('lan'), host), 1)).toBe(reply(1));
  if (broker !== undefined) await untilConnected(bench);
  return bench;
}

/** Waits until the broker has the bench, which `fleet` lists then. */
async function untilConnected({ ask }: Bench): Promise<void> {
  for (let isConnected = false; !isConnected; ) {
    const { mqtt } = (await (await ask('/api/v1/mqtt')).json()) as {
      mqtt: { connected: boolean } | null;
    };
    isConnected = mqtt?.connected ?? false;
    await sleep(20);
  }
}
