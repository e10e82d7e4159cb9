import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pino } from 'pino';
import { newLocalSimulator } from './cli/library/local-simulator.js';
import { callBy, type SimulatorClient, simulatorClient } from './cli/library/simulator-client.js';
import { type Method, type Send, sendTo } from './common/rest-client/client.js';
import { formatProblems } from './common/schema/problem.js';
import { onFreePorts } from './document/free-ports.js';
import { type LoadResult, loadConfiguration, loadNative } from './document/load.js';
import { AT_DESK } from './extensions/at-desk.js';
import { newClient as clientFor, type ModbusClient } from './modbus/client/client.js';
import type { ClientTarget } from './modbus/client/wire.js';

export type {
  DeviceClient,
  DeviceView,
  EventView,
  ExchangeView,
  FaultRequest,
  FaultsClient,
  ImportedView,
  ImportRequest,
  LineClient,
  LineView,
  Refusal,
  RegisterView,
  RuleRequest,
  RuleView,
  SimulatorClient,
  TrafficClient,
  ValueView,
} from './cli/library/simulator-client.js';
export type {
  ClientRequest,
  ModbusClient,
  RawOutcome,
  RequestOutcome as Outcome,
} from './modbus/client/client.js';
export type { RawPiece, RawWait } from './modbus/client/raw.js';
export type { ClientTarget } from './modbus/client/wire.js';

/**
 * Makes a Modbus client ("master"). It opens its port or connection at the first request, and again after it
 * was lost.
 */
export function newClient(target: ClientTarget): ModbusClient {
  return clientFor(target);
}

/**
 * The content of a native file. The build writes this type in full, of the schema that editors complete files by
 * (`scripts/types/library.mjs`).
 */
export interface Configuration {
  readonly [key: string]: unknown;
}

/** A simulator in this process. */
export interface RunningSimulator extends SimulatorClient {
  /** Closes the lines of the simulator and frees everything that it uses. */
  stop(): Promise<void>;
}

/** The rules of access: requests are injected, so no other client can send any. */
const ANYBODY = { host: '127.0.0.1' };

/**
 * Starts a simulator in this process. Its lines use free ports and paths, whatever the configuration says:
 * sockets a free port of 127.0.0.1, serial lines a pseudo-terminal. So each test can have its own simulator.
 * @param configuration content of a native file as an object or as text, or the path of such a file. A string
 * with a line break, or that begins with a brace, is text.
 * @throws an error with every mistake in the configuration
 */
export async function startSimulator(configuration: Configuration | string): Promise<RunningSimulator> {
  const loaded = load(configuration);
  const name = isPath(configuration) ? configuration : 'configuration';
  if (!loaded.ok) throw new Error(formatProblems(name, loaded.problems));
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-lines-'));
  const local = newLocalSimulator(
    onFreePorts(loaded.configuration, (line) => join(directory, line)),
    ANYBODY,
    pino({ level: 'silent' }),
    AT_DESK,
  );
  const stop = async () => {
    await local.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  const send: Send = async (url, { method, headers, body }) => {
    const answer = await local.app.inject({
      method: method as Method,
      url,
      headers: { ...(headers as Record<string, string>), host: 'localhost' },
      ...(typeof body === 'string' && { payload: body }),
    });
    const { statusCode: status } = answer;
    return new Response(status === 204 ? null : answer.body, { status });
  };
  try {
    await local.start();
    return { ...(await simulatorClient(callBy(send, name))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Connects to a simulator that runs elsewhere. Rejects if the simulator can't be reached or the token is
 * wrong.
 * @param url address of its REST interface: `http://127.0.0.1:8080`
 */
export function connect(url: string, { token }: { readonly token?: string } = {}): Promise<SimulatorClient> {
  return simulatorClient(callBy(sendTo(url, token), url.replace(/\/+$/, '')));
}

function isPath(configuration: Configuration | string): configuration is string {
  return typeof configuration === 'string' && !/\n|^\s*\{/.test(configuration);
}

function load(configuration: Configuration | string): LoadResult {
  if (isPath(configuration)) {
    return loadConfiguration({ kind: 'native', file: configuration });
  }
  return loadNative(configuration, resolve('.'));
}
