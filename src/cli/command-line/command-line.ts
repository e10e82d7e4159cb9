import { failure, type Result, success } from '../../common/result.js';
import { FUZZ } from './commands/fuzz.js';
import { MEASURE } from './commands/measure.js';
import { MONITOR } from './commands/monitor.js';
import { CATALOGUE, CHECK, COMPLETION, PORTS, RELOAD, REPORT, SCHEMA } from './commands/plain.js';
import {
  type Given,
  type NamedCommand,
  type OptionTable,
  scan,
  seeHelp,
  valuesOf,
  type WrittenOptions,
} from './commands/scan.js';
import { parseServe, SERVE_OPTIONS, type ServeCommand } from './commands/serve.js';
import { TEST } from './commands/test.js';
import { TEST_CLIENT } from './commands/test-client.js';
import { TEST_SERVER } from './commands/test-server.js';
import { flag } from './commands/values.js';
import type { Extension, ExtensionOrder } from './extension.js';
import { helpOn, isRenamed, unknownCommand } from './help.js';

/** The core's named commands, in the order in which messages list the commands that have an option. */
const NAMED = [
  ...[CHECK, CATALOGUE, SCHEMA, PORTS, RELOAD, REPORT, COMPLETION],
  ...[MEASURE, MONITOR, TEST, TEST_CLIENT, FUZZ, TEST_SERVER],
] as const;

type NamedParse = Extract<ReturnType<(typeof NAMED)[number]['parse']>, { ok: true }>['value'];

/** What the user asked for. */
export type Command =
  | ServeCommand
  | NamedParse
  | ExtensionOrder
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  /** Wrong usage, in one line. */
  | { readonly kind: 'error'; readonly message: string };

type AnyCommand = NamedCommand<OptionTable, NamedParse | ExtensionOrder>;

/** The named commands, those of the extensions first. */
function commandsWith(extensions: readonly Extension[]): readonly AnyCommand[] {
  return [...extensions.filter((each) => 'parse' in each), ...NAMED];
}

/** The options of all commands, except those of commands that parse their arguments themselves. */
export function optionsOf(extensions: readonly Extension[]): OptionTable {
  return {
    help: { ...flag('explain the command'), short: 'h' },
    version: flag('print the version'),
    ...SERVE_OPTIONS,
    ...Object.assign({}, ...commandsWith(extensions).map(({ options }) => options)),
  };
}

/** Parses the arguments after the program's name. `env` has the REST token in MODBUS_SIM_TOKEN. */
export function parseCommandLine(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  extensions: readonly Extension[],
): Command {
  const command = understand(args, env, extensions);
  return command.ok ? command.value : { kind: 'error', message: command.error };
}

function understand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  extensions: readonly Extension[],
): Result<Command> {
  const [first = ''] = args;
  const help = (name: string | undefined) => helpFor(name, extensions);
  const own = extensions.find(({ name }) => name === first);
  if (own && 'understand' in own) {
    const isForHelp = args.includes('--help') || args.includes('-h');
    return isForHelp ? help(first) : own.understand(args.slice(1), env);
  }
  if (isRenamed(first)) return failure(unknownCommand(first, extensions));
  const commands = commandsWith(extensions);
  const find = (name: string | undefined) => commands.find((each) => each.name === name);
  // `--watch` needs a value with one command and none with another, so the command's name is found first.
  const command = find(first);
  const scanned = scan(args, { ...optionsOf(extensions), ...command?.options }, command?.name);
  if (!scanned.ok) return scanned;
  const { options, words } = scanned.value;
  const names = options.map(([name]) => name);
  if (words[0] === 'help') return help(words[1]);
  if (names.includes('help')) return help(words[0]);
  if (names.includes('version')) return success({ kind: 'version' });
  const token = env.MODBUS_SIM_TOKEN || undefined;
  const runtimeDirectory = firstDirectory(env.RUNTIME_DIRECTORY);
  const [name, ...rest] = words;
  if (name !== undefined) {
    const found = find(name);
    if (found === undefined) return failure(unknownCommand(name, extensions));
    return named(name, found, { options, words: rest, token, runtimeDirectory });
  }
  const other = optionBeside(SERVE_OPTIONS, options);
  if (other !== undefined) {
    const owners = commands.filter((each) => Object.hasOwn(each.options, other));
    return failure(`--${other} is for ${owners.map((each) => each.name).join(', ')} ${seeHelp()}`);
  }
  const values = valuesOf(SERVE_OPTIONS, options);
  if (!values.ok) return values;
  return parseServe(values.value, {
    token,
    mqttPassword: env.MODBUS_SIM_MQTT_PASSWORD || undefined,
    defaultPort: env.MODBUS_SIM_HTTP_PORT || undefined,
    stateDirectory: firstDirectory(env.STATE_DIRECTORY),
    runtimeDirectory,
  });
}

/**
 * The first directory that systemd passes. It separates a unit's directories with colons and does not escape
 * a colon in a name, as in `modbus-sim@usb-1-1.2:1.0`. Every directory is absolute, so only a colon followed
 * by a slash is a separator.
 */
function firstDirectory(directories: string | undefined): string | undefined {
  return directories?.split(/:(?=\/)/)[0] || undefined;
}

function helpFor(name: string | undefined, extensions: readonly Extension[]): Result<Command> {
  const found = helpOn(name, extensions, process.stdout.columns);
  return 'text' in found ? success({ kind: 'help', text: found.text }) : failure(found.problem);
}

function named(
  name: string,
  command: AnyCommand,
  given: Omit<Given<OptionTable>, 'values'>,
): Result<Command> {
  const foreign = optionBeside(command.options, given.options);
  if (foreign !== undefined) return failure(`${name} takes no option --${foreign} ${seeHelp(name)}`);
  const values = valuesOf(command.options, given.options);
  const parsed = values.ok ? command.parse({ ...given, values: values.value }) : values;
  return parsed.ok ? parsed : failure(`${parsed.error} ${seeHelp(name)}`);
}

/** The first option on the command line that the table does not have. */
function optionBeside(table: OptionTable, written: WrittenOptions): string | undefined {
  return written.find(([name]) => !Object.hasOwn(table, name))?.[0];
}
