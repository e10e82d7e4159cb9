import { constants, fstat, open, openSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { inspect, promisify } from 'node:util';
import { type DestinationStream, type Logger, pino } from 'pino';
import { printable, printableLine } from '../../common/rest-client/printable.js';
import { failure, type Result, success } from '../../common/result.js';
import { counted } from '../../common/words.js';
import type { LogOptions } from '../command-line/commands/serve.js';
import type { Outlet } from './outlet.js';
import { complain, isJournal, PRIORITY } from './say.js';
import { openOutlet, standardError } from './standard.js';

/** The levels of pymodbus.simulator's --log, with pino's names for them. */
const LEVELS = {
  critical: 'fatal',
  error: 'error',
  warning: 'warn',
  info: 'info',
  debug: 'debug',
} as const;

/**
 * Creates a log in a file or on standard error; standard output stays readable for people. Entries are JSON,
 * one per line; on a terminal and in systemd's journal they are text. On a terminal the default level is
 * warning, because routine entries would bury the output.
 * @returns the log, or an error as a sentence
 */
export async function createLog({ level, file }: LogOptions): Promise<Result<Logger>> {
  const isOnTerminal = file === undefined && process.stderr.isTTY;
  const usual = isOnTerminal ? 'warning' : 'info';
  const outlet = file === undefined ? success(standardError()) : openLogFile(file);
  if (!outlet.ok) return failure(`--log_file ${file}: ${outlet.error}`);
  return success(await newLog(level ?? usual, outlet.value, file === undefined));
}

/** Logs warnings to standard error, for commands that print results. */
export function warningLog(): Promise<Logger> {
  return newLog('warning', standardError(), true);
}

/** Chooses the format of entries for a terminal, the journal or anything else. */
async function forReaders(stream: DestinationStream): Promise<DestinationStream> {
  if (process.stderr.isTTY) return onTerminal(stream);
  return isJournal() ? inJournal(stream) : stream;
}

/**
 * Creates a log. Entries do not name process and host: log collectors add them. Entries are dropped and
 * counted while there is no room, and the count is logged once there is room again.
 */
async function newLog(level: keyof typeof LEVELS, outlet: Outlet, isStandardError: boolean): Promise<Logger> {
  const stream: DestinationStream = { write: (entry) => outlet.offer(entry) };
  const log = pino(
    { base: { name: 'modbus-sim' }, level: LEVELS[level] },
    isStandardError ? await forReaders(stream) : stream,
  );
  outlet.onLoss = (entries) => {
    const text = `${counted(entries, 'log entry was', 'log entries were')} lost before this one`;
    if (log.isLevelEnabled('warn')) log.warn(text);
    else log.fatal(text);
  };
  return log;
}

/** Formats entries as text for people: time, level, line and message, then the other fields. */
async function onTerminal(stream: DestinationStream): Promise<DestinationStream> {
  // Loaded here, because only a start on a terminal needs it.
  const { default: printer } = await import('pino-pretty');
  const pretty = printer.prettyFactory({
    colorize: process.stderr.hasColors(),
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    // `messageFormat` puts the line before the message; the message itself contains the last three.
    ignore: 'name,line,unitId,faults,leftOut',
    messageFormat: ({ line, msg }) => printableLine(line === undefined ? String(msg) : `${line}: ${msg}`),
  });
  const readable = (_: string, value: unknown) => (typeof value === 'string' ? printable(value) : value);
  return { write: (entry) => void stream.write(pretty(JSON.parse(entry, readable))) };
}

/** The journal's priorities, each with the lowest pino level that maps to it. */
const PRIORITIES: readonly (readonly [from: number, priority: number])[] = [
  [60, PRIORITY.critical],
  [50, PRIORITY.error],
  [40, PRIORITY.warning],
  [30, PRIORITY.info],
];

/**
 * Formats entries as text with the priority that `journalctl -p` filters by. The message comes first; the
 * other fields follow as `name=value`. The journal adds time and program.
 */
function inJournal(stream: DestinationStream): DestinationStream {
  return {
    write(entry) {
      const { level, time, name, line, msg, ...fields } = JSON.parse(entry) as Record<string, unknown>;
      const [, priority] = PRIORITIES.find(([from]) => Number(level) >= from) ?? [0, PRIORITY.debug];
      const sentence = line === undefined ? String(msg) : `${line}: ${msg}`;
      const others = Object.entries(fields).map(([key, value]) => ` ${key}=${fieldText(value)}`);
      stream.write(`<${priority}>${printableLine(sentence + others.join(''))}\n`);
    },
  };
}

/** The text of a field: a plain word unchanged, any other value as in source code. */
function fieldText(value: unknown): string {
  if (Array.isArray(value)) return fieldText(value.join(', '));
  if (typeof value === 'string' && /^[^\s"'=]+$/.test(value)) return value;
  return inspect(value, { depth: 6, breakLength: Number.POSITIVE_INFINITY, compact: true });
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK } = constants;
/** O_NOCTTY and O_NONBLOCK: the file may be a terminal. */
const FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK;
const MODE = 0o666;

/**
 * Opens a log file. Entries that can't be written, for example on a full disk, are lost. The simulator
 * reports this once.
 * @returns the log's outlet, or what is wrong with the file
 */
function openLogFile(file: string): Result<Outlet> {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isDirectory()) return failure('is a directory, expected a file');
    // Opening a FIFO blocks until it has a reader, and a full FIFO would block every line.
    if (stats?.isFIFO() || stats?.isSocket()) return failure('is not a regular file');
    // The file may be a terminal. It must not become the controlling terminal, and must not block.
    const descriptor = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK, 0o666);
    const outlet = openOutlet(descriptor, true);
    outlet.reopen = (written) => reopen(file, written);
    outlet.onFailure = (error) => {
      outlet.onFailure = () => {};
      complain(`log entries are lost: ${error.message}`);
    };
    return success(outlet);
  } catch (error) {
    return failure(reasonOf(error as NodeJS.ErrnoException));
  }
}

/**
 * Reopens a log file that was moved or removed, as logrotate does. Otherwise entries would go to the old
 * file.
 * @returns undefined if the file is still in place, or can't be opened; then the log stays on the old one
 */
async function reopen(file: string, descriptor: number): Promise<number | undefined> {
  try {
    const written = await promisify(fstat)(descriptor);
    const found = await stat(file).catch(() => undefined);
    if (found?.ino === written.ino && found.dev === written.dev) return undefined;
    return found && !found.isFile() ? undefined : await promisify(open)(file, FLAGS, MODE);
  } catch {
    return undefined;
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'ENOENT, its directory does not exist';
  if (code === 'EACCES') return 'is not writable (permission denied)';
  return `can't be opened: ${message}`;
}
