import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach } from 'vitest';
import { buildApp } from '../../src/api/app.js';
import type { AccessRules } from '../../src/api/guard.js';
import type { Configuration } from '../../src/config/configuration.js';
import { loadPymodbus } from '../../src/config/load.js';
import { nativeConfiguration } from '../../src/config/native/file.js';
import { At } from '../../src/schema/at.js';
import { fileFindings } from '../../src/schema/findings.js';
import { Simulator } from '../../src/simulator/simulator.js';
import { RawClient } from '../transport/socket/raw-client.js';

/** An answer of the REST interface; `body` is undefined where there was none. */
export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

export interface RegistersBody {
  readonly result: 'ok' | 'error';
  readonly error: string;
  readonly footer: string;
  readonly register_types: Readonly<Record<string, number>>;
  readonly register_actions: Readonly<Record<string, number>>;
  readonly register_rows: readonly Readonly<Record<string, string>>[];
}

/** The simulation state of the specification; the fields that tests look into have their types. */
export interface CallsBody {
  readonly result: 'ok' | 'error';
  readonly error: string;
  readonly simulation_action: string;
  readonly function_error: readonly Choice[];
  readonly function_codes: readonly Choice[];
  readonly function_response_clear_after: number;
  readonly call_rows: readonly CallRow[];
  readonly foot: string;
  readonly [field: string]: unknown;
}

interface Choice {
  readonly value: number;
  readonly text: string;
  readonly selected: boolean;
}

interface CallRow {
  readonly call: string;
  readonly time: string;
  readonly line: string;
  readonly unit: number;
  readonly fc: number;
  readonly address: number | null;
  readonly count: number | null;
  readonly data: string;
}

/** The configuration that a native file with this content would give. */
export function nativeSetup(data: unknown): Configuration {
  const at = new At(data, fileFindings());
  const pymodbusDevices = () => ({ ok: false, messages: ['not here'], warnings: [] }) as const;
  const configuration = nativeConfiguration(at, { pymodbusDevices, api: {}, directory: '.' });
  if (at.findings.count > 0) throw new Error(JSON.stringify(at.findings.listed));
  return configuration;
}

export function pymodbusSetup(file: string, server: string, device: string): Configuration {
  const loaded = loadPymodbus({ file, server, device });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.configuration;
}

/** A simulator with its REST interface, without any port: requests are injected. */
export class Rest {
  readonly app: FastifyInstance;
  readonly simulator: Simulator;

  constructor(configuration: Configuration, rules: AccessRules = { host: '127.0.0.1' }) {
    const log = pino({ level: 'silent' });
    this.simulator = new Simulator(configuration, log);
    this.app = buildApp(this.simulator, rules, log);
  }

  /** Sends `payload` as it is when it is text, else as JSON. */
  async send<Body = unknown>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'HEAD',
    url: string,
    payload?: object | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body>> {
    const type = payload === undefined ? {} : { 'content-type': 'application/json' };
    const response = await this.app.inject({
      method,
      url,
      headers: { host: 'localhost', ...type, ...headers },
      ...(payload !== undefined && { payload }),
    });
    return {
      status: response.statusCode,
      body: (response.body === '' ? undefined : response.json()) as Body,
    };
  }

  async registers(request: object): Promise<RegistersBody> {
    return (await this.send<RegistersBody>('POST', '/restapi/registers', request)).body;
  }

  async calls(request: object): Promise<CallsBody> {
    return (await this.send<CallsBody>('POST', '/restapi/calls', request)).body;
  }

  /** The values of consecutive registers, as their rows tell. */
  async values(range_start: number, range_end = range_start, where: object = {}): Promise<string[]> {
    const { register_rows } = await this.registers({ submit: 'Register', range_start, range_end, ...where });
    return register_rows.map((row) => row.value as string);
  }
}

const running: (() => Promise<void>)[] = [];

/** A simulator whose lines are open, until the test ends. */
export interface Served {
  readonly rest: Rest;
  /** A client of a Modbus TCP line. */
  client(line?: string): RawClient;
  /** The path at which a client opens a virtual serial line. */
  serialPath(line: string): string;
}

export async function serve(configuration: Configuration): Promise<Served> {
  const rest = new Rest(configuration);
  const started = await rest.simulator.start();
  if (!started.ok) throw new Error(started.error);
  const lines = Object.fromEntries(started.lines.map(({ name, description }) => [name, description]));
  const clients: RawClient[] = [];
  running.push(async () => {
    for (const { socket } of clients) socket.destroy();
    await rest.app.close();
    await rest.simulator.stop();
  });
  const client = (line = started.lines[0]?.name ?? '') => {
    const port = /:(\d+),/.exec(lines[line] ?? '')?.[1];
    if (port === undefined) throw new Error(`no TCP port in ${lines[line]}`);
    const made = new RawClient(Number(port));
    clients.push(made);
    return made;
  };
  const serialPath = (line: string) => {
    const path = /\/dev\/pts\/\d+/.exec(lines[line] ?? '')?.[0];
    if (path === undefined) throw new Error(`no pseudo-terminal in ${lines[line]}`);
    return path;
  };
  return { rest, client, serialPath };
}

/** Closes what `serve` opened, after each test of the file that calls it. */
export function closeServed(): void {
  afterEach(async () => {
    for (const close of running.splice(0)) await close();
  });
}
