import { compact } from '../../../common/compact.js';
import { MAX_SEED } from '../../../common/random.js';
import { failure, type Result, success } from '../../../common/result.js';
import { quote } from '../../../common/schema/problem.js';
import type { RealTarget } from '../../../document/configuration.js';
import type { ConfigurationSource } from '../../../document/load.js';
import type { ServerTestOrder } from '../../../testing/server/bench.js';
import { command, type Given, type Values } from './scan.js';
import {
  DEFAULT_RANGES,
  flag,
  names,
  numberFrom,
  option,
  REPORT_OPTIONS,
  type Reports,
  reportsOf,
  TARGET_OPTIONS,
  targetOf,
  text,
  time,
} from './values.js';

/** Find out how a server behaves. */
export interface TestServerCommand {
  readonly kind: 'test-server';
  readonly request: TestServerRequest;
}

/** What the user asks of `modbus-sim test-server`. */
export type TestServerRequest =
  | { readonly what: 'list' }
  | (Omit<
      ServerTestOrder,
      'seed' | 'powerCycle' | 'map' | 'claims' | 'pauseMs' | 'idleMs' | 'timeoutMs' | 'limitMs'
    > &
      Reports & {
        readonly what: 'test-server';
        /** How to reach the server, or the configured real device to test. */
        readonly server:
          | RealTarget
          | { readonly kind: 'device'; readonly name: string; readonly source: ConfigurationSource };
        /** Whether to search for speed, parity and unit first. */
        readonly find: boolean;
        readonly pauseMs?: number;
        readonly idleMs?: number;
        readonly timeoutMs?: number;
        readonly limitMs?: number;
        /** Random seed; a random one when absent. */
        readonly seed?: number;
        /** A native file that describes the server. */
        readonly map?: string;
        readonly claims?: string;
        /** Where to write a draft of the claims; `-` is standard output. */
        readonly claimsTemplate?: string;
        /** A command that restarts the server. */
        readonly powerCycle?: string;
        /** Path for a native file that describes the server. */
        readonly write?: string;
        /** Whether existing files may be overwritten. */
        readonly force: boolean;
      });

export type TestServerWanted = Extract<TestServerRequest, { what: 'test-server' }>;

/** An option whose value lists tables with addresses: `holding:100-103,coils:10-13`. */
const scratch = option(
  'TABLE:FIRST-LAST,...',
  'addresses that may be written, such as holding:100-103,coils:10-13; their values are put back',
  'tables with addresses, such as holding:100-103,coils:10-13',
  (written): ServerTestOrder['scratch'] | undefined => {
    const spans = new Map<string, { readonly first: number; readonly last: number }>();
    for (const part of written.split(',')) {
      const [, table = '', from = '', to = from] =
        /^ *(holding|coils):(\d{1,5})(?:-(\d{1,5}))? *$/.exec(part) ?? [];
      const [first, last] = [Number(from), Number(to)];
      if (table === '' || spans.has(table) || first > last || last > 0xffff) return undefined;
      spans.set(table, { first, last });
    }
    return compact({ holding: spans.get('holding'), coils: spans.get('coils') });
  },
);

const OPTIONS = {
  list: flag('print all checks, with their rules and clauses'),
  ...TARGET_OPTIONS,
  device: text('NAME', 'or the name of a device with `real` in --config'),
  config: text('FILE', 'the configuration that defines the device'),
  map: text('FILE', 'a native file that describes the server, such as `import` and `clone` write'),
  find: flag('find the speed, parity and unit first'),
  unit: numberFrom('N', 'the unit identifier of the server (default 1)', 'a unit identifier', [0, 255]),
  checks: names('NAME,...', 'run only these checks or groups', 'names of checks'),
  scratch,
  broadcast: flag('also send broadcasts, which reach every server on the bus'),
  soak: time('keep reading for this long at the end, such as 10m'),
  idle: time('how long to pause before the idle check (default 3s)'),
  pause: time('the pause before each request (default 20ms)'),
  timeout: time('maximum time for a reply (default: derived from the replies, up to 5s)'),
  limit: time('maximum duration of the test, not counting --soak and --write (default 4m)'),
  claims: text('FILE', 'what the manufacturer claims; a claim that the server does not meet is a violation'),
  'claims-template': text('FILE', 'write the findings as a draft claims file; - is standard output'),
  write: text('FILE', 'write a native file that behaves like the server'),
  force: flag('--write and --claims-template may overwrite a file'),
  'power-cycle': text('COMMAND', 'run this to restart the server when it no longer answers'),
  seed: numberFrom('N', 'seed for the order of the checks and their random parts', 'a whole number', [
    0,
    MAX_SEED,
  ]),
  ...REPORT_OPTIONS,
};

export const TEST_SERVER = command({
  name: 'test-server',
  words: '',
  summary: 'send a server every kind of request, and judge its replies',
  details:
    'Name the server with --serial PATH or --tcp HOST:PORT, or with --device NAME if it is the real device of --config FILE. Nothing is written without --scratch. Exit 1 if the server violates a check or a value could not be put back, 2 if nothing answers or the run is stopped.',
  examples: [
    'test-server --tcp 192.168.1.20:502 --unit 1 --html report.html',
    'test-server --serial /dev/ttyUSB0 --baud 9600 --parity none',
  ],
  options: OPTIONS,
  parse(given): Result<TestServerCommand> {
    const request = parseRequest(given);
    return !request.ok ? request : success({ kind: 'test-server', request: request.value });
  },
});

function serverOf(values: Values<typeof OPTIONS>): Result<TestServerWanted['server']> {
  const { device, config } = values;
  if ((device === undefined) !== (config === undefined)) return failure('--device and --config go together');
  if (device === undefined || config === undefined) return targetOf(values, 'test-server');
  if (values.serial !== undefined || values.tcp !== undefined)
    return failure("--device can't be used with --serial or --tcp");
  return success({ kind: 'device', name: device, source: { kind: 'native', file: config } });
}

function parseRequest({ values, words: [word] }: Given<typeof OPTIONS>): Result<TestServerRequest> {
  if (word !== undefined) return failure(`test-server takes options only, got ${quote(word)}`);
  if (values.list) return success({ what: 'list' });
  const server = serverOf(values);
  if (!server.ok) return server;
  const { unit: unitId = 1, checks = [], soak: soakMs = 0 } = values;
  return success({
    ...{ what: 'test-server', server: server.value, find: values.find ?? false, unitId, checks, soakMs },
    scratch: values.scratch ?? {},
    broadcast: values.broadcast ?? false,
    force: values.force ?? false,
    ...(values.write !== undefined && { write: values.write, survey: DEFAULT_RANGES }),
    ...compact({
      pauseMs: values.pause,
      idleMs: values.idle,
      timeoutMs: values.timeout,
      limitMs: values.limit,
      seed: values.seed,
      map: values.map,
      claims: values.claims,
      claimsTemplate: values['claims-template'],
      powerCycle: values['power-cycle'],
    }),
    ...reportsOf(values),
  });
}
