import { parseArgs } from 'node:util';
import { nearest } from '../schema/nearest.js';
import { quote } from '../schema/problem.js';
import type { ApiOverrides } from './api-definition.js';
import { compact } from './compact.js';
import { type ExamineRequest, parseExamine } from './examine-arguments.js';
import { type ExtcapRequest, parseExtcap } from './extcap-arguments.js';
import { HELP } from './help.js';
import type { ConfigurationSource } from './load.js';

/** Levels of pymodbus.simulator's --log. */
const LOG_LEVELS = ['critical', 'error', 'warning', 'info', 'debug'] as const;

type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  /** When absent, the level depends on where the log goes. */
  readonly level?: LogLevel;
  /** Standard error when absent. */
  readonly file?: string;
}

/** Where what changes at run time may be kept. */
export interface StateOptions {
  /** `--state`: it is kept there, whatever the file says. */
  readonly directory?: string;
  /** Of the service manager: it is kept there when the file says so. */
  readonly ofService?: string;
}

/** What the user asked for. */
export type Command =
  | {
      readonly kind: 'serve';
      readonly source: ConfigurationSource;
      readonly api: ApiOverrides;
      readonly log: LogOptions;
      readonly state: StateOptions;
    }
  | { readonly kind: 'check'; readonly file: string; readonly api: ApiOverrides }
  | { readonly kind: 'ports' }
  | {
      readonly kind: 'selftest';
      readonly line: string;
      readonly source: ConfigurationSource;
      readonly api: ApiOverrides;
      /** How long to wait for requests, in s. */
      readonly seconds: number;
    }
  | {
      readonly kind: 'test';
      readonly files: readonly string[];
      /** Parameters of the scenarios, as `name=value`. */
      readonly settings: readonly string[];
      /** Where reports are written; absent reports are not. */
      readonly junit?: string;
      readonly html?: string;
      readonly json?: string;
      /** REST of a simulator that runs already; without it, each scenario has a bench of its own. */
      readonly url?: string;
      readonly token?: string;
    }
  | {
      readonly kind: 'monitor';
      /** Where the REST interface of the simulator is. */
      readonly url: string;
      readonly token?: string;
      /** As `GET /api/v1/events` takes them, which checks them. */
      readonly filters: Readonly<Partial<Record<MonitorFilter, string>>>;
      /** Whether the bytes are shown, too. */
      readonly hex: boolean;
    }
  | { readonly kind: 'extcap'; readonly request: ExtcapRequest }
  | { readonly kind: 'examine'; readonly request: ExamineRequest }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  /** Wrong usage, in one line. */
  | { readonly kind: 'error'; readonly message: string };

/** The options of all commands, as node:util.parseArgs takes them. */
export const OPTIONS = {
  config: { type: 'string' },
  json_file: { type: 'string' },
  modbus_server: { type: 'string' },
  modbus_device: { type: 'string' },
  http_host: { type: 'string' },
  http_port: { type: 'string' },
  log: { type: 'string' },
  log_file: { type: 'string' },
  custom_actions_module: { type: 'string' },
  state: { type: 'string' },
  seconds: { type: 'string' },
  set: { type: 'string' },
  junit: { type: 'string' },
  html: { type: 'string' },
  json: { type: 'string' },
  line: { type: 'string' },
  unit: { type: 'string' },
  function: { type: 'string' },
  hex: { type: 'boolean' },
  url: { type: 'string' },
  token: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

const MONITOR_FILTERS = ['line', 'unit', 'function'] as const;
type MonitorFilter = (typeof MONITOR_FILTERS)[number];

type OptionName = keyof typeof OPTIONS;
type Values = Readonly<Partial<Record<OptionName, string>>>;

/** Understands the arguments after the program's name. The token of REST comes from MODBUS_SIM_TOKEN in `env`. */
export function parseCommandLine(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Command {
  if (args[0] === 'extcap') return extcap(args.slice(1), env);
  if (args[0] === 'examine' && !asksForHelp(args)) return examine(args.slice(1), tokenOf(env));
  const scanned = scan(args);
  if (typeof scanned === 'string') return { kind: 'error', message: scanned };
  const { values, words, settings } = scanned;
  if (values.help !== undefined) return { kind: 'help', text: HELP };
  if (values.version !== undefined) return { kind: 'version' };
  const token = tokenOf(env);
  // systemd names all state directories of a unit, with colons between them.
  const ofService = env.STATE_DIRECTORY?.split(':')[0] || undefined;
  return words.length > 0 ? subcommand(words, { values, settings, token }) : serve(values, token, ofService);
}

/** Wireshark has options of its own for it. */
function extcap(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Command {
  const request = parseExtcap(args, env);
  return typeof request === 'string' ? { kind: 'error', message: request } : { kind: 'extcap', request };
}

function tokenOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return env.MODBUS_SIM_TOKEN === '' ? undefined : env.MODBUS_SIM_TOKEN;
}

function examine(args: readonly string[], token: string | undefined): Command {
  const request = parseExamine(args, token);
  return typeof request === 'string'
    ? { kind: 'error', message: `${request} (see modbus-sim --help)` }
    : { kind: 'examine', request };
}

function asksForHelp(args: readonly string[]): boolean {
  return args.some((each) => each === '--help' || each === '-h');
}

interface Scanned {
  readonly values: Values;
  readonly words: string[];
  /** Every `--set`. */
  readonly settings: string[];
}

/** Options by name and the words beside them, or what is wrong. Of equal options but `--set` the last one counts. */
function scan(args: readonly string[]): Scanned | string {
  const { tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: Partial<Record<OptionName, string>> = {};
  const words: string[] = [];
  const settings: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    if (!isOption(name)) return unknownOption(rawName);
    if (OPTIONS[name].type === 'boolean') {
      if (value !== undefined) return `${rawName} takes no value`;
      values[name] = '';
    } else {
      if (!value || (!inlineValue && value.startsWith('-'))) return `${rawName} needs a value`;
      values[name] = value;
      if (name === 'set') settings.push(value);
    }
  }
  return { values, words, settings };
}

function isOption(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}

function unknownOption(rawName: string): string {
  const meant = nearest(rawName.replace(/^-+/, ''), Object.keys(OPTIONS));
  const hint = meant === undefined ? '' : `, did you mean --${meant}?`;
  return `unknown option ${quote(rawName)}${hint} (see modbus-sim --help)`;
}

interface Given extends Pick<Scanned, 'values' | 'settings'> {
  readonly token: string | undefined;
}

function subcommand([word = '', ...rest]: readonly string[], given: Given): Command {
  const { values, token } = given;
  const error = (message: string): Command => ({
    kind: 'error',
    message: `${message} (see modbus-sim --help)`,
  });
  if (word === 'selftest') return selftest(rest, values, token, error);
  if (word === 'test') return test(rest, given, error);
  if (word === 'monitor') return monitor(rest, values, token, error);
  if (word !== 'check' && word !== 'ports') return error(`unknown command ${quote(word)}`);
  const option = Object.keys(values)[0];
  if (option !== undefined) return error(`${word} takes no option --${option}`);
  if (word === 'ports') return rest.length === 0 ? { kind: 'ports' } : error('ports takes nothing more');
  const [file] = rest;
  if (file === undefined || rest.length > 1) return error('check takes one file');
  return { kind: 'check', file, api: compact({ token }) };
}

const SELFTEST_OPTIONS: readonly string[] = [
  'config',
  'json_file',
  'modbus_server',
  'modbus_device',
  'seconds',
];
const DEFAULT_SECONDS = 10;
const MAX_SECONDS = 3600;

function selftest(
  [line, ...more]: readonly string[],
  values: Values,
  token: string | undefined,
  error: (message: string) => Command,
): Command {
  const option = Object.keys(values).find((name) => !SELFTEST_OPTIONS.includes(name));
  if (option !== undefined) return error(`selftest takes no option --${option}`);
  if (line === undefined || more.length > 0) return error('selftest takes the name of one line');
  const source = sourceOf(values);
  if (typeof source === 'string') return error(source);
  const seconds = values.seconds === undefined ? DEFAULT_SECONDS : Number(values.seconds);
  if (!(seconds >= 1 && seconds <= MAX_SECONDS)) {
    return error(`--seconds: expected a number from 1 to ${MAX_SECONDS}, got ${quote(values.seconds ?? '')}`);
  }
  return { kind: 'selftest', line, source, api: compact({ token }), seconds };
}

const TEST_OPTIONS: readonly OptionName[] = ['set', 'junit', 'html', 'json', 'url', 'token'];

function test(
  files: readonly string[],
  { values, settings, token }: Given,
  error: (message: string) => Command,
): Command {
  const option = (Object.keys(values) as OptionName[]).find((name) => !TEST_OPTIONS.includes(name));
  if (option !== undefined) return error(`test takes no option --${option}`);
  if (files.length === 0) return error('test takes the files of scenarios');
  const { junit, html, json, url } = values;
  if (url !== undefined && !(/^https?:/.test(url) && URL.canParse(url))) {
    return error(`--url: expected the address of REST, as in http://127.0.0.1:8080, got ${quote(url)}`);
  }
  return {
    kind: 'test',
    files,
    settings,
    ...compact({ junit, html, json, url, token: values.token ?? token }),
  };
}

const MONITOR_OPTIONS: readonly OptionName[] = [...MONITOR_FILTERS, 'hex', 'url', 'token'];
const DEFAULT_URL = 'http://127.0.0.1:8080';

function monitor(
  more: readonly string[],
  values: Values,
  token: string | undefined,
  error: (message: string) => Command,
): Command {
  const names = Object.keys(values) as OptionName[];
  const option = names.find((name) => !MONITOR_OPTIONS.includes(name));
  if (option !== undefined) return error(`monitor takes no option --${option}`);
  if (more.length > 0) return error(`monitor takes options only, got ${quote(more[0] ?? '')}`);
  const { url = DEFAULT_URL, line, unit, function: functions } = values;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    return error(`--url: expected an address such as ${DEFAULT_URL}, got ${quote(url)}`);
  }
  return compact({
    kind: 'monitor' as const,
    url,
    token: values.token ?? token,
    filters: compact({ line, unit, function: functions }),
    hex: values.hex !== undefined,
  });
}

/** Options of one command, which serves nothing. */
const FOREIGN_OPTIONS = [
  ['selftest', ['seconds']],
  ['monitor', MONITOR_OPTIONS],
  ['test', TEST_OPTIONS],
] as const;

function serve(values: Values, token: string | undefined, ofService: string | undefined): Command {
  for (const [command, options] of FOREIGN_OPTIONS) {
    const option = options.find((name) => values[name] !== undefined);
    if (option !== undefined) {
      return { kind: 'error', message: `--${option} is for ${command} (see modbus-sim --help)` };
    }
  }
  const source = sourceOf(values);
  if (typeof source === 'string') return { kind: 'error', message: source };
  const httpPort = values.http_port === undefined ? undefined : portOf(values.http_port);
  if (httpPort === null) {
    return {
      kind: 'error',
      message: `--http_port: expected a port from 0 to 65535, got ${quote(values.http_port ?? '')}`,
    };
  }
  const level = LOG_LEVELS.find((each) => each === values.log);
  if (level === undefined && values.log !== undefined) {
    return {
      kind: 'error',
      message: `--log: expected ${LOG_LEVELS.join(', ')}, got ${quote(values.log)}`,
    };
  }
  return {
    kind: 'serve',
    source,
    api: compact({ httpHost: values.http_host, httpPort, token }),
    log: compact({ level, file: values.log_file }),
    state: compact({ directory: values.state, ofService }),
  };
}

function sourceOf(values: Values): ConfigurationSource | string {
  if (values.custom_actions_module !== undefined) {
    return '--custom_actions_module: custom actions of Python modules are not supported';
  }
  if (values.json_file === undefined) {
    for (const option of ['modbus_server', 'modbus_device'] as const) {
      if (values[option] !== undefined)
        return `--${option} chooses from a pymodbus file, which --json_file names`;
    }
    return values.config === undefined ? { kind: 'demo' } : { kind: 'native', file: values.config };
  }
  if (values.config !== undefined)
    return '--config and --json_file are two ways to configure, use one of them';
  return compact({
    kind: 'pymodbus' as const,
    file: values.json_file,
    server: values.modbus_server,
    device: values.modbus_device,
  });
}

function portOf(text: string): number | null {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65535 ? Number(text) : null;
}
