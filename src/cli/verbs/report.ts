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
import { NOT_DONE, OK, say } from './say.js';

/** Number of newest events in a report. */
const EVENTS = 100;

/** Configuration keys whose values are secrets, including misspelt ones. */
const SECRET = /token|passw|secret/i;
/** A user and password in a URL. They may contain a slash or an `@`. */
const USER = /\/\/(\S+)@/g;
const LEFT_OUT = '(left out)';
/** Shorter secrets, in characters, are not searched for within other texts. */
const SHORTEST = 4;

/**
 * Prints what is needed to look into a problem, as one Markdown text: the program and the machine, the serial
 * ports, the running simulator with its configuration and last events, and a file. It contains no secrets.
 */
export async function report({ file, url, token }: ReportCommand): Promise<number> {
  say('# modbus-sim report\n');
  section('Program', `modbus-sim ${version()}, Node ${process.version}\n${machine()}`);
  section('Serial ports', await ports());
  await running(new Remote(url, token), url);
  if (file === undefined) return OK;
  const parsed = readConfigFile(file);
  section(
    `The file ${file}`,
    parsed.ok ? withoutSecrets(parsed.source.value) : formatProblems(file, parsed.problems),
    'yaml',
  );
  return parsed.ok || !parsed.unread ? OK : NOT_DONE;
}

/** Prints the sections about a running simulator, or one that says why none answers. */
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
    `Its last events (at most ${EVENTS})`,
    events.ok ? events.value.events.map((event) => eventLine(event, shown)).join('\n') : events.error,
  );
}

function section(title: string, content: string, language = 'text'): void {
  const text = `## ${title}\n\n\`\`\`${language}\n${content.trimEnd() || '(nothing)'}\n\`\`\`\n`;
  say(text.replace(USER, `//${LEFT_OUT}@`));
}

function machine(): string {
  const { platform, arch } = process;
  return `${systemName()}${platform} ${release()}, ${arch}, ${cpus().length} processors`;
}

/** The name of a Linux distribution, followed by a comma; empty elsewhere. */
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

/** Formats the content of a file without its comments and secrets, and without copies of a secret elsewhere. */
function withoutSecrets(value: unknown): string {
  if (!isMapping(value)) return 'no mapping';
  const secrets = new Set(secretsIn('', value));
  return [...printed(blockOf(masked(value, secrets) as typeof value, 3))].join('');
}

/** Formats a mapping with a line for each part and each item of its lists, down to a depth. */
function blockOf(mapping: Readonly<Record<string, unknown>>, depth: number): Block {
  return new Block(
    Object.entries(mapping).map(([key, value]) => {
      if (isMapping(value) && depth > 0) return [key, blockOf(value, depth - 1)];
      return [key, Array.isArray(value) && value.every(isMapping) ? new Block(value, '[]') : value];
    }),
    '{}',
  );
}

/** The secret texts below a key, including users and passwords in URLs. */
function secretsIn(key: string, value: unknown): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, each]) =>
      secretsIn(SECRET.test(key) ? key : Array.isArray(value) ? '' : name, each),
    );
  const text = String(value ?? '');
  if (SECRET.test(key)) return [text];
  return Array.from(text.matchAll(USER), ([, user = '']) => [user, user.replace(/^[^:]*:/, '')]).flat();
}

function masked(value: unknown, secrets: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => masked(each, secrets));
  if (isMapping(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        hidden(key, secrets),
        SECRET.test(key) ? LEFT_OUT : masked(each, secrets),
      ]),
    );
  const shown = hidden(String(value), secrets);
  return shown === String(value) ? value : shown;
}

/**
 * Removes secrets from a text. A short secret is removed only if it is the whole text, because any text may
 * contain it by chance.
 */
function hidden(text: string, secrets: ReadonlySet<string>): string {
  if (secrets.has(text) && text.length > 0) return LEFT_OUT;
  const long = [...secrets].filter((secret) => secret.length >= SHORTEST && text.includes(secret));
  return long
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, LEFT_OUT), text.replace(USER, `//${LEFT_OUT}@`));
}
