import { readFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { text as textOf } from 'node:stream/consumers';
import { version } from '../../common/package.js';
import { isMapping } from '../../common/schema/parts.js';
import { formatProblems } from '../../common/schema/problem.js';
import { Block, printed } from '../../document/print.js';
import { readConfigFile } from '../../document/text/read-file.js';
import { listPorts } from '../../modbus/transport/port/list-ports.js';
import type { ReportCommand } from '../command-line/commands/plain.js';
import { eventLine, plain, type ShownEvent } from '../tail/event-line.js';
import { Remote } from './remote.js';
import { OK, say } from './say.js';

/** The newest events that a report has. */
const EVENTS = 100;

/** Keys of a configuration whose values are secrets. */
const SECRET = new Set(['token', 'readTokens', 'password']);

/**
 * Prints what whoever looks into a problem needs to know, as one text in Markdown: the program and the machine, the serial
 * ports, the running simulator with its configuration and its last events, and a file. No secret is in it.
 */
export async function report({ file, url, token }: ReportCommand): Promise<number> {
  say('# modbus-sim report\n');
  section('Program', `modbus-sim ${version()}, Node ${process.version}\n${machine()}`);
  section('Serial ports', await ports());
  await running(new Remote(url, token), url);
  if (file !== undefined) section(`The file ${file}`, withoutSecrets(file), 'yaml');
  return OK;
}

/** The sections about a running simulator; one that says why, where none answers. */
async function running(remote: Remote, url: string): Promise<void> {
  const found = await remote.lines();
  const title = `Lines of the simulator at ${url}`;
  if (!found.ok) return section(title, found.error);
  section(title, found.value.lines.map(({ name, state, place }) => `${name}: ${state}, ${place}`).join('\n'));
  const configuration = await remote.download('/api/v1/configuration');
  section(
    'Its configuration',
    configuration.ok ? await textOf(configuration.value) : configuration.error,
    'yaml',
  );
  const path = `/api/v1/traffic?limit=${EVENTS}`;
  const events = await remote.ask<{ readonly events: readonly ShownEvent[] }>('GET', path);
  const shown = { hex: true, paint: plain, nameWidth: 0 };
  section(
    `Its last events, ${EVENTS} at most`,
    events.ok ? events.value.events.map((event) => eventLine(event, shown)).join('\n') : events.error,
  );
}

function section(title: string, content: string, language = 'text'): void {
  say(`## ${title}\n\n\`\`\`${language}\n${content.trimEnd() || '(nothing)'}\n\`\`\`\n`);
}

function machine(): string {
  const { platform, arch } = process;
  return `${systemName()}${platform} ${release()}, ${arch}, ${cpus().length} processors`;
}

/** The name of a Linux distribution, with a comma; empty elsewhere. */
function systemName(): string {
  try {
    const name = /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
    return name === undefined ? '' : `${name}, `;
  } catch {
    return '';
  }
}

async function ports(): Promise<string> {
  const found = await listPorts();
  return found
    .map(({ path, stableNames, adapter }) => [path, adapter.name, ...stableNames].join('  '))
    .join('\n');
}

/** The content of a file, written anew without its comments and secrets; its mistakes if it can't be read. */
function withoutSecrets(file: string): string {
  const parsed = readConfigFile(file);
  if (!parsed.ok) return formatProblems(file, parsed.problems);
  const { value } = parsed.source;
  if (!isMapping(value)) return 'no mapping';
  return [...printed(blockOf(value, 3))].join('');
}

/** A mapping with a line for each part, and for each item of its lists, down to a depth. */
function blockOf(mapping: Readonly<Record<string, unknown>>, depth: number): Block {
  return new Block(
    Object.entries(mapping).map(([key, value]) => {
      if (isMapping(value) && depth > 0) return [key, blockOf(value, depth - 1)];
      const content = masked(key, value);
      return [key, Array.isArray(content) && content.every(isMapping) ? new Block(content, '[]') : content];
    }),
    '{}',
  );
}

function masked(key: string, value: unknown): unknown {
  if (SECRET.has(key) && !isMapping(value)) return '(left out)';
  if (typeof value === 'string') return value.replace(/\/\/[^/@\s]+@/, '//(left out)@');
  if (Array.isArray(value)) return value.map((each) => masked('', each));
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, masked(name, each)]));
}
