import { quote } from '../schema/problem.js';
import { type CatalogueCommand, parseCatalogue } from './commands/catalogue.js';
import { type CheckCommand, parseCheck } from './commands/check.js';
import { CLONE_OPTIONS, type CloneCommand, parseClone } from './commands/clone.js';
import { EXAMINE_OPTIONS, type ExamineCommand, parseExamine } from './commands/examine.js';
import { type ExtcapCommand, parseExtcap } from './commands/extcap.js';
import { FLEET_OPTIONS, type FleetCommand, parseFleet } from './commands/fleet.js';
import { IMPORT_OPTIONS, type ImportCommand, parseImport } from './commands/import.js';
import { LEARN_OPTIONS, type LearnCommand, parseLearn } from './commands/learn.js';
import { MONITOR_OPTIONS, type MonitorCommand, parseMonitor } from './commands/monitor.js';
import { type PortsCommand, parsePorts } from './commands/ports.js';
import { parseReload, type ReloadCommand } from './commands/reload.js';
import { type Given, type OptionTable, SEE_HELP, scan } from './commands/scan.js';
import { parseSelftest, SELFTEST_OPTIONS, type SelftestCommand } from './commands/selftest.js';
import { parseServe, SERVE_OPTIONS, type ServeCommand } from './commands/serve.js';
import { parseTest, TEST_OPTIONS, type TestCommand } from './commands/test.js';
import { HELP } from './help.js';

/** What the user asked for. */
export type Command =
  | ServeCommand
  | NamedCommand
  | ExtcapCommand
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  /** Wrong usage, in one line. */
  | { readonly kind: 'error'; readonly message: string };

type NamedCommand =
  | CatalogueCommand
  | CheckCommand
  | CloneCommand
  | FleetCommand
  | ImportCommand
  | LearnCommand
  | PortsCommand
  | ReloadCommand
  | SelftestCommand
  | TestCommand
  | MonitorCommand
  | ExamineCommand;

/** The options of all commands but `extcap`. */
export const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
  ...SERVE_OPTIONS,
  ...SELFTEST_OPTIONS,
  ...MONITOR_OPTIONS,
  ...TEST_OPTIONS,
  ...EXAMINE_OPTIONS,
  ...IMPORT_OPTIONS,
  ...FLEET_OPTIONS,
  ...CLONE_OPTIONS,
  ...LEARN_OPTIONS,
} as const satisfies OptionTable;

type OptionName = keyof typeof OPTIONS;

/** A command with a name of its own. */
interface Named {
  readonly options: OptionTable;
  /** Takes only its own options; those of others are refused before. @returns what is wrong, as a sentence */
  parse(given: Given<OptionName>): NamedCommand | string;
}

const COMMANDS: ReadonlyMap<string, Named> = new Map([
  ['check', { options: {}, parse: parseCheck }],
  ['import', { options: IMPORT_OPTIONS, parse: parseImport }],
  ['clone', { options: CLONE_OPTIONS, parse: parseClone }],
  ['learn', { options: LEARN_OPTIONS, parse: parseLearn }],
  ['fleet', { options: FLEET_OPTIONS, parse: parseFleet }],
  ['catalogue', { options: {}, parse: parseCatalogue }],
  ['ports', { options: {}, parse: parsePorts }],
  ['reload', { options: {}, parse: parseReload }],
  ['selftest', { options: SELFTEST_OPTIONS, parse: parseSelftest }],
  ['monitor', { options: MONITOR_OPTIONS, parse: parseMonitor }],
  ['test', { options: TEST_OPTIONS, parse: parseTest }],
  ['examine', { options: EXAMINE_OPTIONS, parse: parseExamine }],
]);

type Environment = Readonly<Record<string, string | undefined>>;

/** Understands the arguments after the program's name. The token of REST comes from MODBUS_SIM_TOKEN in `env`. */
export function parseCommandLine(args: readonly string[], env: Environment): Command {
  const command = understand(args, env);
  return typeof command === 'string' ? { kind: 'error', message: command } : command;
}

function understand(args: readonly string[], env: Environment): Command | string {
  // Wireshark has options of its own for it.
  if (args[0] === 'extcap') {
    const isForHelp = args.includes('--help') || args.includes('-h');
    return isForHelp ? { kind: 'help', text: HELP } : parseExtcap(args.slice(1), env);
  }
  // `--watch` has a value for one command and none for another: the name of the command comes first.
  const table: OptionTable = { ...OPTIONS, ...COMMANDS.get(args[0] ?? '')?.options };
  const scanned = scan<typeof OPTIONS>(args, table as typeof OPTIONS);
  if (typeof scanned === 'string') return scanned;
  const { values, words } = scanned;
  if (values.help !== undefined) return { kind: 'help', text: HELP };
  if (values.version !== undefined) return { kind: 'version' };
  const token = env.MODBUS_SIM_TOKEN || undefined;
  const runtimeDirectory = firstDirectory(env.RUNTIME_DIRECTORY);
  const [name, ...rest] = words;
  if (name !== undefined) return named(name, { ...scanned, words: rest, token, runtimeDirectory });
  const foreign = optionBeside(SERVE_OPTIONS, values);
  if (foreign !== undefined) return `--${foreign} is for ${ownerOf(foreign)} ${SEE_HELP}`;
  return parseServe(values, {
    token,
    mqttPassword: env.MODBUS_SIM_MQTT_PASSWORD || undefined,
    defaultPort: env.MODBUS_SIM_HTTP_PORT || undefined,
    stateDirectory: firstDirectory(env.STATE_DIRECTORY),
    runtimeDirectory,
  });
}

/**
 * systemd names all directories of a unit, with colons between them, and escapes no colon in a name: the state of
 * `modbus-sim@usb-1-1.2:1.0` is in one directory. All of them are absolute.
 */
function firstDirectory(directories: string | undefined): string | undefined {
  return directories?.split(/:(?=\/)/)[0] || undefined;
}

function named(name: string, given: Given<OptionName>): Command | string {
  const command = COMMANDS.get(name);
  if (command === undefined) return `unknown command ${quote(name)} ${SEE_HELP}`;
  const foreign = optionBeside(command.options, given.values);
  if (foreign !== undefined) return `${name} takes no option --${foreign} ${SEE_HELP}`;
  const parsed = command.parse(given);
  return typeof parsed === 'string' ? `${parsed} ${SEE_HELP}` : parsed;
}

/** The first option of the command line that is not in the table. */
function optionBeside(table: OptionTable, values: object): string | undefined {
  return Object.keys(values).find((name) => !Object.hasOwn(table, name));
}

/** The commands that take an option, in words. */
function ownerOf(option: string): string {
  const owners = [...COMMANDS].flatMap(([name, { options }]) => (Object.hasOwn(options, option) ? name : []));
  return owners.join(', ');
}
