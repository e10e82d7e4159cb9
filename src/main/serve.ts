import { lookup } from 'node:dns/promises';
import { resolve } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { buildApp } from '../api/app.js';
import { BACKLOG } from '../api/connections.js';
import type { ServeCommand, StateOptions } from '../config/commands/serve.js';
import type { ApiDefinition } from '../config/configuration.js';
import { type ConfigurationSource, loadConfiguration } from '../config/load.js';
import { runService } from '../service/service.js';
import { findServiceManager } from '../service/service-manager.js';
import { openState } from '../service/state/open-state.js';
import { Simulator } from '../simulator/simulator.js';
import { servingProcess } from '../transport/port/client-link.js';
import { defaultLink } from '../transport/port/open-port.js';
import { hostPort } from '../transport/socket/listen.js';
import { readTlsCredentials } from '../transport/socket/tls-credentials.js';
import { load, sourceName } from './load.js';
import { createLog } from './log.js';
import { complain, FAILED, OK, say } from './say.js';
import { SERVICE_STOP_SIGNALS, stopSignal } from './stop-signal.js';

/** Serves until the process is asked to stop; resolves with the exit code. */
export async function serve(command: ServeCommand): Promise<number> {
  const { source, api, log: logOptions } = command;
  const configuration = load(source, api);
  if (!configuration) return FAILED;
  const log = createLog(logOptions);
  if (typeof log === 'string') return complain(log);
  const { files, ...rules } = configuration.api;
  const tls = files && (await readTlsCredentials(files));
  if (tls?.ok === false) return complain(`REST: ${tls.reason}`);
  for (const note of tls?.notes ?? []) log.warn(`REST: ${note}`);

  const service = await findServiceManager(process.env);
  if (service?.ok === false) log.error(service.error);
  const stop = service?.ok ? stopSignal(OK, SERVICE_STOP_SIGNALS) : stopSignal(OK);
  const simulator = new Simulator(configuration, log);
  const state = await openState({
    simulator,
    configuration,
    log,
    options: command.state,
    file: sourceName(source),
  });
  if (state?.ok === false) return complain(state.error);
  const started = await simulator.start(state?.lines);
  if (!started.ok) return complain(`${started.error}${demoHint(source)}`);
  for (const { name, description } of started.lines) say(`line ${name}: ${description}`);
  if (state) say(state.description);

  const writesIn = stateDirectory(command.state);
  const app = buildApp(
    simulator,
    { ...rules, ...(tls && { credentials: tls.credentials }), ...(writesIn && { writesIn }) },
    quieter(log),
  );
  const listening = await listen(app, configuration.api);
  if (!listening.ok) {
    await simulator.stop();
    return complain(`REST: ${listening.error}`);
  }
  say(`REST on ${listening.addresses.join(' and ')}`);
  state?.keeper.begin();
  const again = () => loadConfiguration(source, api);
  const file = sourceName(source);
  const ended = service?.ok
    ? runService({
        ...{ simulator, configuration, manager: service.manager, log, file, load: again },
        reloaded: (now) => {
          if (state) state.keeper.file = now;
        },
      })
    : undefined;
  say('ready');
  await stop;
  ended?.();
  return Promise.all([app.close(), simulator.stop()])
    .then(() => state?.keeper.end())
    .then(
      () => OK,
      (error: Error) => complain(`stopping failed: ${error.message}`),
    );
}

/** The directory that `--state` or the service gives the program to write to. */
function stateDirectory({ directory, ofService }: StateOptions): string | undefined {
  const given = directory ?? ofService;
  return given && resolve(given);
}

/** At level `info` Fastify would only repeat text that has been printed already. */
function quieter(log: Logger): Logger {
  return log.level === 'info' ? log.child({}, { level: 'warn' }) : log;
}

/** A demo most often fails to start because another demo is running: both use the same TCP port. */
function demoHint({ kind }: ConfigurationSource): string {
  const pid = kind === 'demo' ? servingProcess(defaultLink('demo')) : undefined;
  return pid === undefined
    ? ''
    : `\nA demo is running already, process ${pid}: end that one, or start with a file of your own (--config FILE)`;
}

type Listening =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly error: string };

/**
 * For `localhost`, which stands for two addresses, Fastify would open a second server, which knows nothing of the limits
 * of connections.
 */
async function oneAddress(host: string): Promise<string> {
  return host.toLowerCase() === 'localhost' ? (await lookup(host)).address : host;
}

/** Returns the addresses as bound: 0.0.0.0 stays 0.0.0.0. */
async function listen(app: FastifyInstance, { host, port, files }: ApiDefinition): Promise<Listening> {
  const scheme = files === undefined ? 'http' : 'https';
  try {
    await app.listen({ host: await oneAddress(host), port, backlog: BACKLOG });
    const addresses = app
      .addresses()
      .map((each) => (typeof each === 'string' ? each : `${scheme}://${hostPort(each.address, each.port)}`));
    return { ok: true, addresses };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const place = hostPort(host, port);
    return {
      ok: false,
      error:
        code === 'EADDRINUSE'
          ? `${place} is in use by another program; choose another port with api.port or --http_port`
          : `can't listen on ${place}: ${message}`,
    };
  }
}
