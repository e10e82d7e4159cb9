import { resolve } from 'node:path';
import { HERE } from '../../common/platform.js';
import { findMisbehaviour, rulesOf } from '../../document/catalogue.js';
import type { Configuration } from '../../document/configuration.js';
import { withFreePortsHint } from '../../document/free-ports.js';
import { demoNote } from '../../document/load.js';
import { ownDirectory } from '../../modbus/transport/port/open-port.js';
import { shortenTimeSlice, timeSliceText } from '../../modbus/transport/port/time-slice.js';
import { armMisbehaviour } from '../../simulator/commands/catalogue.js';
import { type CommandContext, ownersContext } from '../../simulator/commands/context.js';
import { problemText } from '../../simulator/commands/refusal.js';
import { Simulator } from '../../simulator/simulator.js';
import { newTestContext } from '../../testing/commands.js';
import type { ServeCommand, StateOptions } from '../command-line/commands/serve.js';
import { answerReloads, socketOfFile, socketOfService } from '../service/reload-socket.js';
import { Reloads, watchFile } from '../service/reloads.js';
import { findServiceManager, type Supervision, supervise } from '../service/service.js';
import { openState, type StateKeeper } from '../service/state/state-keeper.js';
import { ConfigurationFile } from './configuration-file.js';
import { withoutTaken } from './demo-ports.js';
import { DeskSupervisor } from './desk.js';
import type { DeskThread } from './desk-messages.js';
import { codeOf, load, sourceName } from './load.js';
import { createLog } from './log.js';
import { showReload } from './reload.js';
import { complain, FAILED, note, OK, say } from './say.js';
import { stopOfServer, stopSignal } from './stop-signal.js';

/** How long server tests may take to restore values after a stop signal, in ms. Then the program ends. */
const PUT_BACK_MS = 1200;

/**
 * Serves until the process is asked to stop. Resolves with the exit code.
 * @param thread the desk thread, which is still loading its modules
 */
export async function serve(command: ServeCommand, thread: DeskThread): Promise<number> {
  const { source, api, log: logOptions } = command;
  const desk = new DeskSupervisor(thread);
  const written = new ConfigurationFile(source, api);
  let code = FAILED;
  const loaded = load(source, api, (result) => {
    written.note(result);
    code = codeOf(result);
  });
  if (!loaded) return code;
  const isPlainDemo = source.kind === 'demo' && !source.freePorts;
  const choosesRest = api.httpPort !== undefined || api.defaultPort !== undefined;
  const moved: string[] = [];
  const configuration = isPlainDemo
    ? await withoutTaken(loaded, !choosesRest, (text) => moved.push(text))
    : loaded;
  const log = await createLog(logOptions);
  if (!log.ok) return complain(log.error);
  const { files, ...rules } = configuration.api;
  const tls =
    files && (await (await import('../../modbus/transport/socket/tls.js')).readTlsCredentials(files));
  if (tls?.ok === false) return complain(`REST: ${tls.error}`);
  const { mqtt } = configuration;
  const broker =
    mqtt?.files && (await (await import('../../remote/mqtt/credentials.js')).readBrokerFiles(mqtt.files));
  if (broker?.ok === false) return complain(`mqtt: ${broker.error}`);
  for (const note of tls?.notes ?? []) log.value.warn(`REST: ${note}`);

  const service = await findServiceManager(process.env);
  if (service?.ok === false) log.value.error(service.error);
  let keeper: StateKeeper | undefined;
  let saving: Promise<void> | undefined;
  const save = () => {
    saving ??= keeper?.end();
    return saving;
  };
  const { stop, onReload } =
    source.kind !== 'demo' ? stopOfServer(OK, save) : { stop: stopSignal(OK, { save }), onReload: undefined };
  const simulator = new Simulator(configuration, log.value);
  const context = newTestContext(simulator, log.value, stateDirectory(command.state));
  const owned = ownersContext(simulator, log.value);
  const state = await openState({
    context: owned,
    configuration,
    log: log.value,
    options: command.state,
    file: sourceName(source),
    stop,
  });
  if (state?.ok === false) return complain(state.error);
  const armed = await misbehave(owned, command.misbehave);
  if (armed !== undefined) {
    await state?.keeper.cancel();
    return complain(armed);
  }
  const started = await simulator.start(state?.lines);
  if (!started.ok) {
    await state?.keeper.cancel();
    return complain(withFreePortsHint(started));
  }
  for (const text of moved) say(text);
  for (const { name, description } of started.lines) say(`line ${name}: ${description}`);
  if (state) say(state.description);

  // The main thread has nothing else to do here while the REST thread loads its modules.
  void shortenTimeSlice().then((slice) => log.value.debug(`thread of the lines: ${timeSliceText(slice)}`));
  const { credentials } = tls ?? {};
  const served = await desk.start({
    context,
    rules: { ...rules, ...(credentials && { credentials }) },
    port: configuration.api.port,
    log: log.value,
    mqtt: mqtt && { definition: { ...mqtt, ...command.mqtt }, credentials: broker?.value ?? {} },
  });
  if (!served.ok) {
    await simulator.stop();
    await state?.keeper.cancel();
    return complain(served.error);
  }
  say(`REST on ${served.addresses.join(' and ')}`);
  const demo = source.kind === 'demo' ? demoNote(HERE, served.addresses[0] ?? '') : undefined;
  if (demo !== undefined) say(demo);
  if (mqtt) say(`MQTT on ${mqtt.url}, topic ${mqtt.topic}`);
  await state?.keeper.begin();
  keeper = state?.keeper;
  const file = sourceName(source);
  const rest = api.defaultPort === undefined ? undefined : served.addresses.join(' and ');
  const supervision = service?.ok
    ? supervise(simulator, { manager: service.manager, log: log.value, rest })
    : undefined;
  const endReloads =
    onReload && source.kind !== 'demo'
      ? takeReloads(source.file, command, {
          ...{ context: owned, configuration, file, log: log.value, load: () => written.read() },
          ...{ onReload, supervision },
          applied: (now) => {
            if (state) state.keeper.file = now;
          },
        })
      : undefined;
  say('ready');
  await stop;
  endReloads?.();
  supervision?.end();
  // The lines are closed at once. In the meantime, server tests restore the values of their servers.
  const stopped = context.runs.stopAll();
  const late = setTimeout(() => {
    for (const { id, server, isOver } of context.runs.list('server'))
      if (!isOver) note(`server test ${id}: no time left to put back all values of ${server}`);
  }, PUT_BACK_MS);
  return simulator
    .stop()
    .then(() => stopped)
    .then(() => clearTimeout(late))
    .then(() => desk.stop())
    .then(save)
    .then(
      () => OK,
      (error: Error) => complain(`stopping failed: ${error.message}`),
    );
}

/** What reads the configuration again, and where the result is reported. */
interface ReloadSources extends Omit<ConstructorParameters<typeof Reloads>[0], 'begins' | 'reloaded'> {
  readonly onReload: (reload: () => void) => () => void;
  readonly supervision: Supervision | undefined;
  readonly applied: (configuration: Configuration) => void;
}

/**
 * Reads the configuration again when SIGHUP, `modbus-sim reload` or an editor requests it.
 * @returns a function that stops this
 */
function takeReloads(
  file: string,
  { runtimeDirectory, watches }: ServeCommand,
  { onReload, supervision, applied, ...reloading }: ReloadSources,
): () => void {
  const reloads = new Reloads({
    ...reloading,
    begins: supervision && (() => supervision.reloading()),
    reloaded(now, problem) {
      applied(now);
      supervision?.reloaded(problem);
    },
  });
  const path =
    runtimeDirectory === undefined ? socketOfFile(file, ownDirectory()) : socketOfService(runtimeDirectory);
  const failed = (problem: string) => reloading.log.error(problem);
  const ends = [
    onReload(() => void reloads.ask('reload')),
    ...(HERE.isWindows ? [] : [answerReloads(path, (request) => reloads.ask(request), failed)]),
    ...(watches ? [watchFile(file, () => void reloads.ask('reload', showReload))] : []),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/**
 * Makes all devices misbehave as a catalogue entry describes.
 * @returns a sentence if they can't
 */
async function misbehave(context: CommandContext, id: string | undefined): Promise<string | undefined> {
  const entry = id === undefined ? undefined : findMisbehaviour(id);
  if (!entry?.ok) return entry && `--misbehave: ${entry.error}`;
  const { manners, line } = entry.value;
  for (const device of context.simulator.devices.keys()) {
    const target = { device };
    const problem = problemText(
      await armMisbehaviour(context, { manners, line, rules: rulesOf(entry.value, target), target }),
    );
    if (problem !== undefined) return `--misbehave ${id}: ${problem}`;
  }
  return undefined;
}

/** The writable directory given by `--state` or by the service. */
function stateDirectory({ directory, ofService }: StateOptions): string | undefined {
  const given = directory ?? ofService;
  return given && resolve(given);
}
