import { compact } from '../../../common/compact.js';
import { failure, type Result, success } from '../../../common/result.js';
import { expectedMessage } from '../../../common/schema/problem.js';
import type { ApiOverrides } from '../../../document/api-definition.js';
import type { ConfigurationSource } from '../../../document/load.js';
import type { Values } from './scan.js';
import { FREE_PORTS_OPTION, flag, numberFrom, SOURCE_OPTIONS, sourceOf, text, wordOf } from './values.js';

/** Levels of pymodbus.simulator's --log. */
const LOG_LEVELS = ['critical', 'error', 'warning', 'info', 'debug'] as const;

export interface LogOptions {
  /** Lowest level that is logged. The default depends on where the log goes. */
  readonly level?: (typeof LOG_LEVELS)[number];
  /** Path of the log file; standard error when absent. */
  readonly file?: string;
}

/** The directories in which the program may save changes made at run time. */
export interface StateOptions {
  /** Directory from `--state`. The state is saved there, whatever the file says. */
  readonly directory?: string;
  /** Directory from the service manager. The state is saved there if the file asks for it. */
  readonly ofService?: string;
}

/** Serve a configuration: what the program does without a command name. */
export interface ServeCommand {
  readonly kind: 'serve';
  readonly source: ConfigurationSource;
  readonly api: ApiOverrides;
  readonly log: LogOptions;
  readonly state: StateOptions;
  /** Directory for the socket on which the service receives reload requests. */
  readonly runtimeDirectory?: string;
  /** Whether the configuration is read again each time it is saved. */
  readonly watches?: true;
  /** Identifier of a catalogue entry that all devices imitate. */
  readonly misbehave?: string;
  /** The broker password, from the environment. */
  readonly mqtt?: { readonly password: string };
}

const PORT = numberFrom(
  'PORT',
  'the REST port (default 8080, with --json_file 8081); 0 picks a free port',
  'a port',
  [0, 65535],
);

export const SERVE_OPTIONS = {
  ...SOURCE_OPTIONS,
  ...FREE_PORTS_OPTION,
  http_host: text(
    'HOST',
    'the REST address (default 127.0.0.1); an address other than loopback needs a token',
  ),
  http_port: PORT,
  misbehave: text('ID', 'make all devices misbehave as this catalogue entry describes'),
  state: text('DIR', 'keep run-time changes in DIR and restore them after a restart'),
  watch: flag('apply changes to the configuration whenever it is saved'),
  log: {
    ...wordOf('critical, error, warning, info or debug (default info; on a terminal, warning)', LOG_LEVELS),
    value: 'LEVEL',
  },
  log_file: text('FILE', 'log to a file instead of standard error'),
  custom_actions_module: text('MODULE'),
};

interface ServeSecrets {
  /** The REST token, from the environment. */
  readonly token: string | undefined;
  /** The broker password, from the environment. */
  readonly mqttPassword: string | undefined;
  /** The REST port if neither the command line nor the file has one. */
  readonly defaultPort: string | undefined;
  /** The state directories that the service manager created, separated by colons. */
  readonly stateDirectory: string | undefined;
  readonly runtimeDirectory: string | undefined;
}

/** @returns the command, or a sentence that says what is wrong */
export function parseServe(
  values: Values<typeof SERVE_OPTIONS>,
  { token, mqttPassword, defaultPort: usualPort, stateDirectory, runtimeDirectory }: ServeSecrets,
): Result<ServeCommand> {
  if (values.custom_actions_module !== undefined) {
    return failure('--custom_actions_module: custom actions of Python modules are not supported');
  }
  const source = sourceOf(values);
  if (!source.ok) return source;
  if (values.watch && source.value.kind === 'demo') return failure('--watch needs --config');
  const { http_host: httpHost, http_port: httpPort, log: level, log_file: file } = values;
  const defaultPort = usualPort === undefined ? undefined : PORT.read(usualPort);
  if (usualPort !== undefined && defaultPort === undefined)
    return failure(`MODBUS_SIM_HTTP_PORT: ${expectedMessage(PORT.expected ?? '', usualPort)}`);
  return success(
    compact({
      kind: 'serve' as const,
      source: source.value,
      api: compact({ httpHost, httpPort, defaultPort, token }),
      log: compact({ level, file }),
      state: compact({ directory: values.state, ofService: stateDirectory }),
      runtimeDirectory,
      watches: values.watch || undefined,
      misbehave: values.misbehave,
      mqtt: mqttPassword === undefined ? undefined : { password: mqttPassword },
    }),
  );
}
