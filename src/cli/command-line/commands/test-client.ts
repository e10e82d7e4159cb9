import { compact } from '../../../common/compact.js';
import { MAX_SEED } from '../../../common/random.js';
import { failure, type Result, success } from '../../../common/result.js';
import type { ConfigurationSource } from '../../../document/load.js';
import type { WrittenObserver } from '../../../testing/client/observer.js';
import { command, type Given, type Values } from './scan.js';
import {
  FREE_PORTS_OPTION,
  FREE_PORTS_REMOTE,
  flag,
  names,
  numberFrom,
  REMOTE_OPTIONS,
  REPORT_OPTIONS,
  type Reports,
  reportsOf,
  sourceOf,
  text,
  timeFrom,
} from './values.js';

/** Find out how a client behaves. */
export interface TestClientCommand {
  readonly kind: 'test-client';
  readonly request: TestClientRequest;
}

/** What the user asks of `modbus-sim test-client`. */
export type TestClientRequest =
  | { readonly what: 'list' }
  | (ClientTestOrder &
      ClientWanted & {
        readonly what: 'test-client';
        /** Whether the client is restarted if it exits. */
        readonly restart?: boolean;
      });

/** A run on a line's client. */
export interface ClientWanted extends Omit<ClientTestOrder, 'checks'>, Reports {
  readonly line: string;
  readonly source: ConfigurationSource;
  /** The command line that starts the client. */
  readonly dut?: string;
  /** The observer that the `--observer-…` options describe; empty if there is none. */
  readonly observer: WrittenObserver;
  /** REST URL of a running simulator. If undefined, the run starts its own simulator. */
  readonly url?: string;
  readonly token?: string;
}

/** What a client test does, on this simulator or another one. */
export interface ClientTestOrder {
  /** Unit id: only requests to this unit are disturbed. */
  readonly unitId?: number;
  /** Identifiers of checks and names of groups. Empty means all checks. */
  readonly checks: readonly string[];
  /** Maximum duration in ms; the default when absent. */
  readonly limitMs?: number;
  /** Random seed; a random one when absent. */
  readonly seed?: number;
}

export type TestClientWanted = Extract<TestClientRequest, { what: 'test-client' }>;

/** The shortest and longest time limits of a run, in ms. */
export const LIMITS_MS = [1000, 86_400_000] as const;

export const ORDER_OPTIONS = {
  unit: numberFrom('N', 'disturb only requests to this unit', 'a unit identifier', [0, 255]),
  checks: names(
    'NAME,...',
    'run only these checks or groups, and the checks they depend on',
    'names of checks',
  ),
  limit: timeFrom(
    'stop after this time (default 10m); the remaining checks are not run',
    'a time from 1s to 24h, such as 10m',
    LIMITS_MS,
  ),
  seed: numberFrom('N', 'seed for the order of the checks and their random parts', 'a whole number', [
    0,
    MAX_SEED,
  ]),
};

/** The options that describe the bench: its configuration and the client. */
export const CLIENT_OPTIONS = {
  config: text('FILE', 'the configuration that defines the line (default: the demo)'),
  ...FREE_PORTS_OPTION,
  dut: text(
    'COMMAND',
    'start the client with this command, and stop it at the end; the command may contain {lines.NAME.path}, {lines.NAME.host} and {lines.NAME.port}',
  ),
};

/** The options that describe the observer of the client's values. */
export const OBSERVER_OPTIONS = {
  'observer-register': text('DEVICE.NAME', 'register to which the client copies what it read'),
  'observer-url': text('URL', 'web page on which the client shows what it read'),
  'observer-path': text('PATH', 'the path of the value in the JSON of that page, such as values[0].voltage'),
  'observer-command': text('COMMAND', 'command that prints what the client has read'),
};

const OPTIONS = {
  list: flag('print all checks, with their rules and sources'),
  ...CLIENT_OPTIONS,
  ...ORDER_OPTIONS,
  restart: flag('restart the client when it exits, and run the remaining checks'),
  ...REPORT_OPTIONS,
  ...REMOTE_OPTIONS,
  ...OBSERVER_OPTIONS,
};

/** The options of every run on a client: where it is, how it is observed, and which reports are written. */
type ClientOptions = typeof CLIENT_OPTIONS &
  Pick<typeof ORDER_OPTIONS, 'unit' | 'limit' | 'seed'> &
  typeof REPORT_OPTIONS &
  typeof REMOTE_OPTIONS &
  typeof OBSERVER_OPTIONS;

export const TEST_CLIENT = command({
  name: 'test-client',
  words: 'LINE',
  summary: 'watch the client that polls a line, disturb it, and report how it behaves',
  details:
    'LINE is a line of the demo, of --config FILE, or of a running simulator (--url). Exit 1 if a check failed, 2 if no client polls.',
  examples: [
    'test-client bench --config bench.yaml --html report.html',
    'test-client lan --dut "python3 client.py {lines.lan.port}"',
  ],
  options: OPTIONS,
  parse(given): Result<TestClientCommand> {
    const { list, checks = [], dut, restart, url } = given.values;
    if (list) return success({ kind: 'test-client', request: { what: 'list' } });
    const client = clientWanted('test-client', given);
    if (!client.ok) return client;
    if (restart && (dut === undefined || url !== undefined))
      return failure("--restart needs --dut and can't be used with --url");
    const request = { what: 'test-client', ...client.value, checks, ...compact({ restart }) } as const;
    return success({ kind: 'test-client', request });
  },
});

/**
 * Reads which client the command line means.
 * @param name the command's name, for messages
 * @returns the client, or a sentence that says what is wrong
 */
export function clientWanted(
  name: string,
  { values, words, token }: Given<ClientOptions>,
): Result<ClientWanted> {
  const [line, ...more] = words;
  if (line === undefined || more.length > 0) return failure(`${name} takes the name of one line`);
  const remote = remoteProblem(values);
  if (remote !== undefined) return failure(remote);
  const source = sourceOf(values);
  if (!source.ok) return source;
  const { unit: unitId, limit: limitMs, seed, dut, url } = values;
  return success({
    line,
    source: source.value,
    observer: observerOf(values),
    ...reportsOf(values),
    ...compact({ unitId, limitMs, seed, dut, url }),
    ...(url !== undefined && compact({ token: values.token ?? token })),
  });
}

/** Reads from the options what the client test does. */
export function clientTestOrder({
  unit: unitId,
  checks = [],
  limit: limitMs,
  seed,
}: Values<typeof ORDER_OPTIONS>): ClientTestOrder {
  return { checks, ...compact({ unitId, limitMs, seed }) };
}

/** The observer that the options describe; empty if they describe none. */
function observerOf(values: Values<typeof OBSERVER_OPTIONS>): WrittenObserver {
  return compact({
    register: values['observer-register'],
    url: values['observer-url'],
    path: values['observer-path'],
    command: values['observer-command'],
  });
}

/** Why the options can't be combined: some need `--url`, others can't be used with it. */
function remoteProblem(values: Values<ClientOptions>): string | undefined {
  const { url, token, config } = values;
  if (url === undefined) return token === undefined ? undefined : '--token needs --url';
  if (config !== undefined)
    return '--config has no effect with --url: that simulator has its own configuration';
  if (values['free-ports']) return FREE_PORTS_REMOTE;
  const foreign = (['observer-url', 'observer-command'] as const).find((name) => values[name] !== undefined);
  return foreign && `--${foreign} can't be used with --url; use --observer-register`;
}
