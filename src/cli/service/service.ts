import { formatWarnings } from '../../common/schema/problem.js';
import type { Configuration } from '../../files/config/configuration.js';
import type { LoadResult } from '../../files/config/load.js';
import type { CommandContext } from '../../simulator/commands/context.js';
import { defectText, reload } from './reload.js';
import { answerReloads, type ReloadAnswer } from './reload-socket.js';
import { type Supervised, supervise } from './supervision.js';

export interface Service extends Supervised {
  /** The context of commands with the rights of the owner. */
  readonly context: CommandContext;
  /** The configuration that the simulator was built from. */
  readonly configuration: Configuration;
  /**
   * Directory of the socket for requests to read the configuration again; undefined when the service has
   * none.
   */
  readonly runtimeDirectory: string | undefined;
  /** Name of the configuration, for messages. */
  readonly file: string;
  /** Reads the configuration again. */
  readonly load: () => LoadResult | Promise<LoadResult>;
  /** Called with the configuration that applies after a reload. */
  readonly reloaded: (configuration: Configuration) => void;
}

/**
 * Does what a service manager expects of a service that is ready: reports that it is ready and then that it
 * is alive, and reads the configuration again on SIGHUP or on request.
 * @returns a function to call before the simulator is stopped
 */
export function runService({
  context,
  configuration,
  manager,
  runtimeDirectory,
  log,
  rest,
  file,
  load,
  reloaded: onReloaded,
}: Service): () => void {
  const supervision = supervise(context.simulator, { manager, log, rest });
  let current = configuration;

  const readOnce = async (): Promise<ReloadAnswer> => {
    const loaded = await load();
    const { configuration: now, done, refused } = await reload(context, current, loaded, file);
    current = now;
    onReloaded(current);
    return { warnings: loaded.warnings.map((each) => formatWarnings(file, [each])), done, refused };
  };
  // Never rejects: every failure is reported to those who asked, and the next reload is a new attempt.
  const readAgain = async (): Promise<ReloadAnswer> => {
    queued = undefined;
    // Type=notify-reload (systemd 253 and later) also requires the time.
    manager.notify({ RELOADING: 1, MONOTONIC_USEC: `${process.hrtime.bigint() / 1000n}` });
    const { warnings, done, refused } = await readOnce().catch((error: Error) => {
      log.error({ err: error }, 'the configuration could not be read again');
      return { warnings: [], done: [], refused: [`${file}: ${defectText(error)}`] };
    });
    for (const text of warnings) log.warn(text);
    for (const text of refused.flatMap((each) => each.split('\n'))) log.error(`not reloaded: ${text}`);
    log.info({ changed: done }, 'configuration read again');
    const problem = refused[0]?.split('\n')[0];
    supervision.note(problem === undefined ? undefined : `reload: ${problem}`);
    manager.notify({ READY: 1 });
    return { warnings, done, refused };
  };
  // Reloads run one after the other, because each compares with the result of the one before. A request that
  // arrives while a reload still waits for its turn shares that reload, which has not read the file yet.
  let last: Promise<unknown> = Promise.resolve();
  let queued: Promise<ReloadAnswer> | undefined;
  const queue = (): Promise<ReloadAnswer> => {
    queued ??= last.then(readAgain);
    last = queued;
    return queued;
  };
  const onSignal = () => void queue();
  process.on('SIGHUP', onSignal);
  const endAnswers =
    runtimeDirectory && answerReloads(runtimeDirectory, queue, (problem) => log.error(problem));
  return () => {
    process.off('SIGHUP', onSignal);
    if (endAnswers) endAnswers();
    supervision.end();
  };
}
