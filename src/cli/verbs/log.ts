import { constants, openSync, statSync } from 'node:fs';
import { inspect } from 'node:util';
import { type DestinationStream, type Logger, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { printable, printableLine } from '../../common/rest-client/printable.js';
import type { LogOptions } from '../command-line/commands/serve.js';
import type { Outlet } from './outlet.js';
import { complain, isJournal, PRIORITY } from './say.js';
import { openOutlet, standardError } from './standard.js';

/** The levels of pymodbus.simulator's --log, with their names in pino. */
const LEVELS = {
  critical: 'fatal',
  error: 'error',
  warning: 'warn',
  info: 'info',
  debug: 'debug',
} as const;

/**
 * Creates a log in a file or on standard error, so that standard output stays readable for people. Its entries are JSON,
 * one in a line; on a terminal and in systemd's journal they are text. On a terminal the default level is warning,
 * because the usual events would bury what is printed.
 * @returns the log, or an error as a sentence.
 */
export function createLog({ level, file }: LogOptions): Logger | string {
  const isOnTerminal = file === undefined && process.stderr.isTTY;
  const usual = isOnTerminal ? 'warning' : 'info';
  const outlet = file === undefined ? standardError() : openLogFile(file);
  if (typeof outlet === 'string') return `--log_file ${file}: ${outlet}`;
  return newLog(level ?? usual, outlet, file === undefined);
}

/** Warnings on standard error, for commands that print what they find. */
export function warningLog(): Logger {
  return newLog('warning', standardError(), true);
}

/** In the form that suits what standard error is. */
function forReaders(stream: DestinationStream): DestinationStream {
  if (process.stderr.isTTY) return onTerminal(stream);
  return isJournal() ? inJournal(stream) : stream;
}

/**
 * Process and host are left out: whoever collects logs adds them. Entries that nobody took in time are counted, and told
 * when there is room again.
 */
function newLog(level: keyof typeof LEVELS, outlet: Outlet, isStandardError: boolean): Logger {
  const stream: DestinationStream = { write: (entry) => outlet.offer(entry) };
  const log = pino(
    { base: { name: 'modbus-sim' }, level: LEVELS[level] },
    isStandardError ? forReaders(stream) : stream,
  );
  outlet.onLoss = (entries) => {
    const text = `${entries} log ${entries === 1 ? 'entry was' : 'entries were'} lost before this one`;
    if (log.isLevelEnabled('warn')) log.warn(text);
    else log.fatal(text);
  };
  return log;
}

/** Entries as text for people: time, level, line, message, and the other fields behind it. */
function onTerminal(stream: DestinationStream): DestinationStream {
  const pretty = prettyFactory({
    colorize: process.stderr.hasColors(),
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    // The message has the other three.
    ignore: 'name,line,unitId,faults,leftOut',
    messageFormat: ({ line, msg }) => printableLine(line === undefined ? String(msg) : `${line}: ${msg}`),
  });
  const readable = (_: string, value: unknown) => (typeof value === 'string' ? printable(value) : value);
  return { write: (entry) => void stream.write(pretty(JSON.parse(entry, readable))) };
}

/** Pino's numbers of the levels. */
const PRIORITIES: readonly (readonly [from: number, priority: number])[] = [
  [60, PRIORITY.critical],
  [50, PRIORITY.error],
  [40, PRIORITY.warning],
  [30, PRIORITY.info],
];

/**
 * Entries as text with the priority that `journalctl -p` asks for. The sentence comes first, the other fields follow as
 * `name=value`. The journal adds time and program.
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

/** A word as it is, anything else as in source text. */
function fieldText(value: unknown): string {
  if (Array.isArray(value)) return fieldText(value.join(', '));
  if (typeof value === 'string' && /^[^\s"'=]+$/.test(value)) return value;
  return inspect(value, { depth: 6, breakLength: Number.POSITIVE_INFINITY, compact: true });
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK } = constants;

/**
 * Entries that can't be written, for example on a full disk, are lost. The simulator reports this once.
 * @returns where the log goes, or what is wrong with the file.
 */
function openLogFile(file: string): Outlet | string {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isDirectory()) return 'is a directory, expected a file';
    // Opening a FIFO blocks until it has a reader, and a full FIFO would block every line.
    if (stats?.isFIFO() || stats?.isSocket()) return 'is not a regular file';
    // A terminal may be named, too.
    const descriptor = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK, 0o666);
    const outlet = openOutlet(descriptor, true);
    outlet.onFailure = (error) => {
      outlet.onFailure = () => {};
      complain(`log entries are lost: ${error.message}`);
    };
    return outlet;
  } catch (error) {
    return reasonOf(error as NodeJS.ErrnoException);
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'ENOENT, its directory does not exist';
  if (code === 'EACCES') return 'may not be written (permission denied)';
  return `can't be opened: ${message}`;
}
