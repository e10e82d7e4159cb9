import { compact } from '../../../common/compact.js';
import { failure, type Result, success } from '../../../common/result.js';
import { DURATION, milliseconds } from '../../../common/schema/milliseconds.js';
import type { RealTarget } from '../../../document/configuration.js';
import type { ConfigurationSource } from '../../../document/load.js';
import type { RunAbout } from '../../../testing/report/report.js';
import type { Option, Values } from './scan.js';

/** An option without a value. @param help what the option does */
export function flag(help: string): Option<boolean, 'boolean'> {
  return { type: 'boolean', read: () => true, help };
}

/** An option whose value is any text. @param value the placeholder in the help, such as `FILE` */
export function text(value: string, help?: string): Option<string, 'string'> {
  return { type: 'string', read: (written) => written, value, ...compact({ help }) };
}

/**
 * An option whose text `read` converts into a value.
 * @param expected the words that follow "expected" in a message about an invalid text
 */
export function option<Value>(
  value: string,
  help: string,
  expected: string,
  read: (text: string) => Value | undefined,
): Option<Value, 'string'> {
  return { type: 'string', read, expected, value, help };
}

/** An option whose value is one of these words. The help lists them. */
export function wordOf<const Word extends string>(help: string, words: readonly Word[]): Option<Word> {
  const expected = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  const read = (written: string) => words.find((word) => word === written);
  return { ...option(words.join('|'), help, expected, read), choices: words };
}

/**
 * An option whose value is an integer between two limits, inclusive.
 * @param what name of the number in messages
 */
export function numberFrom(
  value: string,
  help: string,
  what: string,
  [min, max]: readonly [number, number],
): Option<number> {
  return option(value, help, `${what} from ${min} to ${max}`, (written) => {
    const number = wholeNumber(written);
    return number >= min && number <= max ? number : undefined;
  });
}

/** An option whose value is a time in ms between two limits, inclusive. */
export function timeFrom(
  help: string,
  expected: string,
  [min, max]: readonly [number, number],
): Option<number> {
  return option('TIME', help, expected, (written) => {
    const ms = milliseconds(written);
    return ms >= min && ms <= max ? ms : undefined;
  });
}

/** An option whose value is a comma-separated list of names. */
export function names(what: string, help: string, expected: string) {
  return option(what, help, expected, (written) => written.split(',').flatMap((name) => name.trim() || []));
}

/** An option whose value is a time in ms; 0 needs no unit. */
export function time(help: string) {
  return option('TIME', help, 'a time such as 60s or 20ms', (written) => {
    if (written === '0') return 0;
    return DURATION.test(written) ? milliseconds(written) : undefined;
  });
}

export const JSON_OPTION = { json: flag('print JSON, for programs') };

/** Parses decimal digits; NaN for any other text. */
export function wholeNumber(written: string): number {
  return /^\d{1,10}$/.test(written) ? Number(written) : Number.NaN;
}

export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** The message if `--free-ports` and `--url` are combined. */
export const FREE_PORTS_REMOTE =
  '--free-ports has no effect with --url: that simulator already has its ports';

/** The options that select a running simulator. */
export const REMOTE_OPTIONS = {
  url: option(
    'URL',
    'the REST interface of a running simulator',
    `the address of the REST interface, such as ${DEFAULT_URL}`,
    (written) => (/^https?:\/\//.test(written) && URL.canParse(written) ? written : undefined),
  ),
  token: text('TOKEN', "its token (better: set MODBUS_SIM_TOKEN, which other users can't see)"),
};

/** The options that say where to write a file, and whether to overwrite an existing one. */
export const OUTPUT_OPTIONS = {
  output: { ...text('FILE', 'write to this file (default: standard output)'), short: 'o' },
  force: flag('overwrite that file if it exists'),
};

/** Where a command writes its file. */
export type Output = Values<typeof OUTPUT_OPTIONS>;

/** The options for the paths of reports, and how JUnit counts an inconclusive step or check. */
export const REPORT_OPTIONS = {
  junit: text('FILE', 'write a report for CI systems'),
  html: text('FILE', 'write a report for people'),
  json: text('FILE', 'write a report for programs'),
  about: text('TEXT', 'name and version of the product under test, for the reports'),
  tester: text('NAME', 'name of the tester, for the reports'),
  remark: text('TEXT', 'a remark for the reports'),
  inconclusive: wordOf('how JUnit counts an inconclusive step or check (default: skipped)', [
    'skipped',
    'failure',
  ]),
};

export interface Reports {
  /** Paths of the reports; a report without a path is not written. */
  readonly junit?: string;
  readonly html?: string;
  readonly json?: string;
  /**
   * How an inconclusive step or check counts in JUnit, and in the exit code of a client test; `skipped` when
   * absent.
   */
  readonly inconclusive?: 'skipped' | 'failure';
  /** What the tester says about the run; absent if nothing. */
  readonly about?: RunAbout;
}

export function reportsOf({
  junit,
  html,
  json,
  inconclusive,
  about: client,
  tester,
  remark,
}: Values<typeof REPORT_OPTIONS>): Reports {
  const about = compact({ client, tester, remark });
  return { ...compact({ junit, html, json, inconclusive }), ...(Object.keys(about).length > 0 && { about }) };
}

export const SOURCE_OPTIONS = {
  config: text('FILE', 'the configuration, YAML or JSON (default: the demo)'),
  json_file: text('FILE', 'a pymodbus.simulator file instead'),
  modbus_server: text('NAME', 'the entry of server_list to use (default: server, or the only one)'),
  modbus_device: text('NAME', 'the entry of device_list to use (default: device, or the only one)'),
};

export const FREE_PORTS_OPTION = {
  'free-ports': flag('use free ports and virtual serial lines instead of those in the file'),
};

/**
 * The configuration that the options select; the demo if they select none.
 * @returns the source, or a sentence that says what is wrong
 */
export function sourceOf(
  values: Values<typeof SOURCE_OPTIONS & typeof FREE_PORTS_OPTION>,
): Result<ConfigurationSource> {
  const source = namedBy(values);
  return !source.ok || !values['free-ports'] ? source : success({ ...source.value, freePorts: true });
}

function namedBy(values: Values<typeof SOURCE_OPTIONS>): Result<ConfigurationSource> {
  if (values.json_file === undefined) {
    for (const option of ['modbus_server', 'modbus_device'] as const) {
      if (values[option] !== undefined)
        return failure(`--${option} selects an entry of a pymodbus file and needs --json_file`);
    }
    return values.config === undefined
      ? success({ kind: 'demo' })
      : success({ kind: 'native', file: values.config });
  }
  if (values.config !== undefined) return failure("--config and --json_file can't be used together");
  return success(
    compact({
      kind: 'pymodbus' as const,
      file: values.json_file,
      server: values.modbus_server,
      device: values.modbus_device,
    }),
  );
}

const SERIAL_ONLY = ['baud', 'parity', 'stop-bits'] as const;

/** The options that say how to reach a real device. */
export const TARGET_OPTIONS = {
  serial: text('PATH', 'the serial port that the device is on'),
  tcp: option('HOST:PORT', 'or the TCP address of the device', 'HOST:PORT', hostPort),
  framing: wordOf('the framing (default: socket on TCP, rtu on a serial port)', ['socket', 'rtu', 'ascii']),
  baud: numberFrom('N', 'baud rate of the port (default 19200)', 'a number', [50, 4_000_000]),
  parity: wordOf('parity of the port (default even)', ['none', 'even', 'odd']),
  'stop-bits': wordOf('stop bits of the port (default 1)', ['1', '2']),
};

/**
 * Reads from the options how to reach the device.
 * @param name the command's name, for messages
 * @returns the target, or a sentence that says what is wrong
 */
export function targetOf(values: Values<typeof TARGET_OPTIONS>, name: string): Result<RealTarget> {
  const { serial, tcp, framing, baud = 19200, parity = 'even', 'stop-bits': stopBits = '1' } = values;
  if (tcp !== undefined && serial === undefined) {
    const [only] = SERIAL_ONLY.filter((name) => values[name] !== undefined);
    return only
      ? failure(`--${only} is for --serial`)
      : success({ kind: 'tcp', ...tcp, framing: framing ?? 'socket' });
  }
  if (serial === undefined || tcp) return failure(`${name} needs --serial PATH or --tcp HOST:PORT`);
  if (framing === 'socket') return failure('--framing: expected rtu or ascii with --serial');
  return success({
    kind: 'serial',
    path: serial,
    baudRate: baud,
    parity,
    stopBits: stopBits === '1' ? 1 : 2,
    dataBits: framing === 'ascii' ? 7 : 8,
    framing: framing ?? 'rtu',
  });
}

export type Ranges = readonly (readonly [first: number, last: number])[];

/** The addresses to search on a device if the user names none. */
export const DEFAULT_RANGES: Ranges = [
  [0, 9999],
  [40000, 40999],
];

/** Splits an address such as `10.0.0.7:502`, `bench` or `[::1]:502`. */
function hostPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, bracketed, plain, digits = '502'] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const [host, port] = [bracketed ?? plain, wholeNumber(digits)];
  return host !== undefined && port > 0 && port <= 65535 ? { host, port } : undefined;
}
