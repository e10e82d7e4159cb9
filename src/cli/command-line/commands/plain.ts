import { compact } from '../../../common/compact.js';
import { failure, type Result, success } from '../../../common/result.js';
import type { ApiOverrides } from '../../../document/api-definition.js';
import { command } from './scan.js';
import { DEFAULT_URL, flag, JSON_OPTION, REMOTE_OPTIONS } from './values.js';

/** List known misbehaviour of real devices, or explain one of them. */
export interface CatalogueCommand {
  readonly kind: 'catalogue';
  readonly id?: string;
  readonly asJson?: boolean;
}

export const CATALOGUE = command({
  name: 'catalogue',
  words: '[ID]',
  summary: 'list what real devices do wrong, or explain one entry with its sources',
  details: 'To simulate an entry, use --misbehave ID, or `like: ID` in a file.',
  examples: ['catalogue', 'catalogue sleeps'],
  options: JSON_OPTION,
  parse({ words: [id, ...more], values }): Result<CatalogueCommand> {
    return more.length > 0
      ? failure('catalogue takes one identifier')
      : success({ kind: 'catalogue', ...compact({ id, asJson: values.json }) });
  },
});

/** Print the mistakes in a file. */
export interface CheckCommand {
  readonly kind: 'check';
  /** Path of the file; `-` for standard input. */
  readonly file: string;
  readonly api: ApiOverrides;
  readonly asJson?: boolean;
}

export const CHECK = command({
  name: 'check',
  words: 'FILE',
  summary: 'print every mistake in a configuration, native or pymodbus',
  details: 'FILE may be - for standard input. Exit 1 if there is a mistake.',
  examples: ['check bench.yaml', 'check - --json < bench.yaml'],
  options: JSON_OPTION,
  parse({ words: [file, ...more], values, token }): Result<CheckCommand> {
    if (file === undefined || more.length > 0) return failure('check takes one file');
    return success({ kind: 'check', file, api: compact({ token }), ...compact({ asJson: values.json }) });
  },
});

const FILE_KINDS = ['configuration', 'scenario', 'catalogue'] as const;

/** Print the schema of a kind of file. */
export interface SchemaCommand {
  readonly kind: 'schema';
  readonly of: (typeof FILE_KINDS)[number];
}

export const SCHEMA = command({
  name: 'schema',
  words: '[KIND]',
  choices: FILE_KINDS,
  summary: 'print the JSON Schema of a file, for editors',
  details:
    'KIND is configuration (default), scenario or catalogue. The schemas are draft 07. The package also contains them as files, such as schema/configuration.json.',
  examples: ['schema scenario > scenario.json'],
  options: {},
  parse({ words: [of = 'configuration', ...more] }): Result<SchemaCommand> {
    const kind = FILE_KINDS.find((each) => each === of);
    return kind && more.length === 0
      ? success({ kind: 'schema', of: kind })
      : failure(`schema takes one of ${FILE_KINDS.join(', ')}`);
  },
});

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Print a script that lets a shell complete commands and options. */
export interface CompletionCommand {
  readonly kind: 'completion';
  readonly shell: (typeof SHELLS)[number];
}

export const COMPLETION = command({
  name: 'completion',
  words: 'SHELL',
  choices: SHELLS,
  summary: 'print the completion script for a shell',
  details:
    'SHELL is bash, zsh or fish. To load the script into the current shell: source <(modbus-sim completion bash), likewise with zsh; in fish: modbus-sim completion fish | source. The Debian package installs the scripts.',
  examples: ['completion fish'],
  options: {},
  parse({ words: [of, ...more] }): Result<CompletionCommand> {
    const shell = SHELLS.find((each) => each === of);
    return shell && more.length === 0
      ? success({ kind: 'completion', shell })
      : failure(`completion takes one of ${SHELLS.join(', ')}`);
  },
});

/** List the serial ports. */
export interface PortsCommand {
  readonly kind: 'ports';
  readonly asJson?: boolean;
}

export const PORTS = command({
  name: 'ports',
  words: '',
  summary: 'list serial ports by their stable names',
  details: '',
  examples: ['ports'],
  options: JSON_OPTION,
  parse({ words, values }): Result<PortsCommand> {
    return words.length === 0
      ? success({ kind: 'ports', ...compact({ asJson: values.json }) })
      : failure('ports takes no arguments');
  },
});

/** Print the information that a problem report needs. */
export interface ReportCommand {
  readonly kind: 'report';
  /** A configuration that the report also shows. */
  readonly file?: string;
  /** URL of the REST interface of the simulator. */
  readonly url: string;
  readonly token?: string;
}

export const REPORT = command({
  name: 'report',
  words: '[FILE]',
  summary: 'print a summary to attach to a bug report',
  details: `The summary is Markdown: version, system, serial ports, and the lines, configuration and last events of the simulator at ${DEFAULT_URL} (or --url). FILE is a configuration to include. Tokens and passwords are left out. Read it before you publish it: modbus-sim report > report.md`,
  examples: ['report bench.yaml > report.md'],
  options: REMOTE_OPTIONS,
  parse({ words: [file, ...more], values, token: tokenInEnvironment }): Result<ReportCommand> {
    const { url = DEFAULT_URL, token = tokenInEnvironment } = values;
    return more.length > 0
      ? failure('report takes one file')
      : success({ kind: 'report', url, ...compact({ file, token }) });
  },
});

/** Make a running program read its configuration again. */
export interface ReloadCommand {
  readonly kind: 'reload';
  /** The configuration, or the runtime directory of a service, which has its socket. */
  readonly place: string;
  /** Only print what would change. */
  readonly preview: boolean;
}

/** The runtime directory of modbus-sim.service. */
const USUAL_DIRECTORY = '/run/modbus-sim';

export const RELOAD = command({
  name: 'reload',
  words: '[FILE|DIR]',
  summary: 'make a running program reload its configuration',
  details:
    'Prints what changed and what did not. If the file has mistakes, nothing changes and the exit code is 1. FILE is the configuration that the program was started with; DIR is the runtime directory of a service (default: RUNTIME_DIRECTORY if it is set, otherwise /run/modbus-sim).',
  examples: ['reload --preview bench.yaml', 'reload'],
  options: { preview: flag('only print what would change') },
  parse({ words, values, runtimeDirectory }): Result<ReloadCommand> {
    const [place = runtimeDirectory ?? USUAL_DIRECTORY, ...more] = words;
    const { preview = false } = values;
    return more.length === 0
      ? success({ kind: 'reload', place, preview })
      : failure('reload takes one file or directory');
  },
});
