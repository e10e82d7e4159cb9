#!/usr/bin/env node
import { openSync, readFileSync, writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import { buildApp } from './api/app.js';
import { type Command, type LogOptions, parseCommandLine } from './config/command-line.js';
import type { ApiDefinition } from './config/configuration.js';
import { type ConfigurationSource, checkFile, loadConfiguration } from './config/load.js';
import { unknownName } from './schema/nearest.js';
import { formatProblems } from './schema/problem.js';
import { withCredentials } from './service/credential.js';
import { runService } from './service/service.js';
import { findServiceManager } from './service/service-manager.js';
import { measureLine, waitsForOthers } from './simulator/selftest/measure.js';
import { verdict } from './simulator/selftest/verdict.js';
import { Simulator } from './simulator/simulator.js';
import { listPorts } from './transport/port/list-ports.js';

const OK = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Nothing may keep the process from ending when it was asked to. */
const STOP_LIMIT_MS = 1500;

/** Runs one command of the command line; resolves with the exit code, or never while it serves. */
async function run(command: Command): Promise<number> {
  switch (command.kind) {
    case 'help':
      return say(command.text);
    case 'version':
      return say(version());
    case 'error':
      return complain(command.message, WRONG_USAGE);
    case 'check':
      return check(command);
    case 'ports':
      return ports();
    case 'selftest':
      return selftest(command);
    case 'serve':
      return serve(command);
  }
}

function say(text: string): number {
  console.log(text);
  return OK;
}

function complain(text: string, code = FAILED): number {
  console.error(text);
  return code;
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}

function check({ file, api }: Extract<Command, { kind: 'check' }>): number {
  const result = checkFile(file, api);
  return result.ok ? say(`${file}: no mistakes found`) : complain(formatProblems(file, result.problems));
}

async function ports(): Promise<number> {
  const found = await listPorts();
  if (found.length === 0) return say('no serial ports found');
  for (const { path, stableNames, adapter, usb, hints } of found) {
    const parts = usb && [
      `${usb.vendorId}:${usb.productId}`,
      usb.manufacturer,
      usb.product,
      usb.serialNumber,
    ];
    say([path, adapter.name, parts?.filter(Boolean).join(' ')].filter(Boolean).join('  '));
    for (const line of [...stableNames, ...hints]) say(`  ${line}`);
  }
  return OK;
}

/** Opens that one line, and plays no faults on it. Asked to stop, it closes the line and judges nothing. */
async function selftest({ source, api, line: name, seconds }: Extract<Command, { kind: 'selftest' }>) {
  const loaded = loadConfiguration(source, api);
  if (!loaded.ok) return complain(formatProblems(sourceName(source), loaded.problems));
  const log = pino({ name: 'modbus-sim', level: 'warn' }, logStream(process.stderr.fd));
  const simulator = new Simulator({ ...loaded.configuration, faults: [] }, log);
  const line = simulator.lines.get(name);
  if (!line) return complain(unknownName('line', name, [...simulator.lines.keys()]));
  const stop = stopSignal(FAILED);
  const waits = waitsForOthers(line.definition) ? '; let your client poll it meanwhile' : '';
  say(`line ${name}: measuring${waits}`);
  const measured = await Promise.race([measureLine(simulator, line, seconds), stop]);
  if (measured === undefined) {
    await line.stop();
    return complain(`line ${name}: asked to stop before the end; nothing is judged`);
  }
  if ('error' in measured) return complain(`line ${name}: ${measured.error}`);
  const { ok, text } = verdict(measured);
  say(text);
  return ok ? OK : FAILED;
}

function sourceName(source: ConfigurationSource): string {
  return source.kind === 'demo' ? 'demo' : source.file;
}

async function serve({ source, api, log: logOptions }: Extract<Command, { kind: 'serve' }>): Promise<number> {
  const load = () => loadConfiguration(source, api);
  const loaded = load();
  if (!loaded.ok) return complain(formatProblems(sourceName(source), loaded.problems));
  const { configuration } = loaded;
  const log = createLog(logOptions);
  if (typeof log === 'string') return complain(log);

  const service = await findServiceManager(process.env);
  if (service?.ok === false) log.error(service.error);
  const stop = stopSignal(OK, service?.ok ? SERVICE_STOP_SIGNALS : STOP_SIGNALS);
  const simulator = new Simulator(configuration, log);
  const started = await simulator.start();
  if (!started.ok) return complain(started.error);
  for (const { name, description } of started.lines) say(`line ${name}: ${description}`);

  const app = buildApp(simulator, configuration.api, quieter(log));
  const listening = await app.listen({ host: configuration.api.host, port: configuration.api.port }).then(
    (address) => ({ ok: true, address }) as const,
    (error: NodeJS.ErrnoException) => ({ ok: false, error }) as const,
  );
  if (!listening.ok) {
    await simulator.stop();
    return complain(`REST: ${explainListenError(listening.error, configuration.api)}`);
  }
  say(`REST on ${listening.address}`);
  const ended = service?.ok
    ? runService({ simulator, configuration, manager: service.manager, log, file: sourceName(source), load })
    : undefined;
  say('ready');
  await stop;
  ended?.();
  return Promise.all([app.close(), simulator.stop()]).then(
    () => OK,
    (error: Error) => complain(`stopping failed: ${error.message}`),
  );
}

/** At the usual level Fastify would only repeat what has been printed for people. */
function quieter(log: Logger): Logger {
  return log.level === 'info' ? log.child({}, { level: 'warn' }) : log;
}

function explainListenError({ code, message }: NodeJS.ErrnoException, { host, port }: ApiDefinition): string {
  if (code === 'EADDRINUSE')
    return `${host}:${port} is in use by another program; choose another port with --http_port`;
  return `can't listen on ${host}:${port}: ${message}`;
}

/**
 * Logs are JSON lines on standard error, so that standard output stays readable for people; or in a file. On a
 * terminal the usual events would only bury what has been printed.
 */
function createLog({ level, file }: LogOptions): Logger | string {
  const levels = {
    critical: 'fatal',
    error: 'error',
    warning: 'warn',
    info: 'info',
    debug: 'debug',
  } as const;
  try {
    const destination = logStream(file === undefined ? process.stderr.fd : openSync(file, 'a'));
    const usual = file === undefined && process.stderr.isTTY ? 'warning' : 'info';
    return pino({ name: 'modbus-sim', level: levels[level ?? usual] }, destination);
  } catch (error) {
    return `--log_file ${file}: ${(error as Error).message}`;
  }
}

/** An entry that can't be written, on a full disk say, is lost; the simulator goes on, and tells it once. */
function logStream(descriptor: number): DestinationStream {
  // Losses of standard error itself can't be told on it.
  let told = descriptor === process.stderr.fd;
  return {
    write(entry) {
      const bytes = Buffer.from(entry);
      try {
        for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
      } catch (error) {
        if (!told) complain(`log entries are lost: ${(error as Error).message}`);
        told = true;
      }
    },
  };
}

/** SIGHUP is the terminal that was closed; from a service manager, the order to read the configuration again. */
const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP'];
const SERVICE_STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Resolves once the process was asked to end. From then on it has a limited time: then it ends with `late`, whatever
 * is still going on. Another signal of the same kind ends it at once.
 */
function stopSignal(late: number, signals = STOP_SIGNALS): Promise<undefined> {
  return new Promise((resolve) => {
    const onSignal = () => {
      setTimeout(() => process.exit(late), STOP_LIMIT_MS);
      resolve(undefined);
    };
    for (const signal of signals) process.once(signal, onSignal);
  });
}

const environment = withCredentials(process.env);
process.exit(
  typeof environment === 'string'
    ? complain(environment)
    : await run(parseCommandLine(process.argv.slice(2), environment)),
);
