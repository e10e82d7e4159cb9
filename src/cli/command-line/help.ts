import { nearest } from '../../common/schema/nearest.js';
import { quote } from '../../common/schema/problem.js';
import { FUZZ } from './commands/fuzz.js';
import { MEASURE } from './commands/measure.js';
import { MONITOR } from './commands/monitor.js';
import { CATALOGUE, CHECK, COMPLETION, PORTS, RELOAD, REPORT, SCHEMA } from './commands/plain.js';
import { type Described, type OptionTable, seeHelp } from './commands/scan.js';
import { SERVE_OPTIONS } from './commands/serve.js';
import { TEST } from './commands/test.js';
import { TEST_CLIENT } from './commands/test-client.js';
import { TEST_SERVER } from './commands/test-server.js';
import type { Extension } from './extension.js';

/** A row of a table: a term and its explanation. */
type Row = readonly [term: string, text: string];

/** The commands by section of the list. */
function partsWith(extensions: readonly Extension[]): [title: string, commands: readonly Described[]][] {
  const added = (part: Extension['part']) => extensions.filter((each) => each.part === part);
  return [
    ['Describe devices', [CHECK, SCHEMA, ...added('describe'), CATALOGUE]],
    ['Test and measure', [TEST, TEST_CLIENT, FUZZ, TEST_SERVER, MEASURE]],
    ['Watch and operate', [MONITOR, PORTS, RELOAD, ...added('operate'), REPORT, COMPLETION]],
  ];
}

export function describedWith(extensions: readonly Extension[]): Described[] {
  return partsWith(extensions).flatMap(([, commands]) => commands);
}

const USAGE: readonly Row[] = [
  ['modbus-sim', 'run the built-in demo: a virtual serial line, and TCP on 127.0.0.1:5020'],
  ['modbus-sim --config FILE', 'run the configuration in a file (YAML or JSON)'],
  [
    'modbus-sim help COMMAND',
    'explain one of these commands (or COMMAND --help); --version prints the version',
  ],
];

const ENVIRONMENT: readonly Row[] = [
  ['MODBUS_SIM_TOKEN', 'the token that REST clients must send'],
  ['MODBUS_SIM_HTTP_PORT', 'the REST port, unless an option or the file sets one'],
  ['MODBUS_SIM_MQTT_PASSWORD', 'the password for the MQTT broker'],
];

const TEXT_COLUMN = 28;
/** The maximum width of the help, and the width of the narrowest terminal that it supports, in columns. */
const WIDTH = 110;
const NARROWEST = 60;

/** The page that `--help` prints: all commands, and the options for serving. */
function overview(extensions: readonly Extension[], width: number): string {
  return [
    'modbus-sim: a Modbus server (slave) simulator for serial lines, TCP, UDP and TLS',
    ...table('', USAGE, width),
    ...partsWith(extensions).flatMap(([title, commands]) =>
      table(
        title,
        commands.map(({ name, words, summary }) => [`${name} ${words}`.trimEnd(), summary]),
        width,
      ),
    ),
    ...table('Options without a command', optionRows(SERVE_OPTIONS), width),
    ...table('Environment', ENVIRONMENT, width),
    ...wrapped(
      'In a clone, type node dist/main.js instead of modbus-sim, or run npm link to get the command.',
      width,
    ),
  ].join('\n');
}

/**
 * The text that `modbus-sim help` prints.
 * @param name name of a command, or `all` for the whole help on one page, for the manual; undefined for the
 * list of all commands
 * @param columns width of the terminal
 * @returns a `problem` if there is no such command
 */
export function helpOn(
  name: string | undefined,
  extensions: readonly Extension[],
  columns = WIDTH,
): { readonly text: string } | { readonly problem: string } {
  const width = Math.min(WIDTH, Math.max(NARROWEST, columns));
  if (name === undefined) return { text: overview(extensions, width) };
  const described = describedWith(extensions);
  if (name === 'all')
    return {
      text: [overview(extensions, width), ...described.map((each) => helpOf(each, width))].join('\n\n'),
    };
  const command = described.find((each) => each.name === name);
  if (command) return { text: helpOf(command, width) };
  return { problem: unknownCommand(name, extensions) };
}

/** Old names of commands, and their present names. */
const RENAMED = new Map([
  ['examine', 'test-client'],
  ['inspect', 'test-server'],
  ['shake', 'fuzz'],
  ['selftest', 'measure'],
]);

export function isRenamed(name: string): boolean {
  return RENAMED.has(name);
}

/** The message for an unknown command, with the one that was probably meant. */
export function unknownCommand(name: string, extensions: readonly Extension[]): string {
  const now = RENAMED.get(name);
  if (now !== undefined) return `${name} is now called ${now} ${seeHelp(now)}`;
  const names = describedWith(extensions).map((each) => each.name);
  const meant = nearest(name, ['help', ...names]);
  return `unknown command ${quote(name)}${meant === undefined ? '' : `, did you mean ${meant}?`} ${seeHelp()}`;
}

/** What `modbus-sim help COMMAND` prints. */
function helpOf({ name, words, summary, details, options, examples }: Described, width: number): string {
  const lines = [`modbus-sim ${name} ${words}`.trimEnd()];
  const text = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.${details && ` ${details}`}`;
  return [
    ...lines,
    ...wrapped(text, width - 2).map((line) => `  ${line}`),
    ...table('', optionRows(options), width),
    '',
    ...examples.map((example) => `  $ modbus-sim ${example}`.trimEnd()),
  ].join('\n');
}

function optionRows(options: OptionTable): Row[] {
  return Object.entries(options).flatMap(([name, { short, value, help }]) => {
    if (help === undefined) return [];
    const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
    return [[value === undefined ? names : `${names} ${value}`, help] as const];
  });
}

/** A heading, if there is one, followed by rows of terms and texts. */
function table(title: string, rows: readonly Row[], width: number): string[] {
  if (rows.length === 0) return [];
  const lines = rows.flatMap(([term, text]) => {
    const parts = wrapped(text, width - TEXT_COLUMN);
    const isLong = term.length + 2 > TEXT_COLUMN - 2;
    const [first = '', ...others] = isLong ? ['', ...parts] : parts;
    const indent = ' '.repeat(TEXT_COLUMN);
    return [`  ${term.padEnd(TEXT_COLUMN - 2)}${first}`.trimEnd(), ...others.map((part) => indent + part)];
  });
  return ['', ...(title === '' ? [] : [title]), ...lines];
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
