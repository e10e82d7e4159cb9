import type { Logger } from 'pino';
import type { Configuration } from '../config/configuration.js';
import type { LoadResult } from '../config/load.js';
import type { Room } from '../control/room.js';
import { type Reloaded, reload } from './reload.js';
import type { ServiceManager } from './service-manager.js';
import { supervise } from './supervision.js';

export interface Service {
  /** As its owner sees it. */
  readonly room: Room;
  /** The configuration that the simulator was built from. */
  readonly configuration: Configuration;
  readonly manager: ServiceManager;
  readonly log: Logger;
  /** Name of the configuration, for messages. */
  readonly file: string;
  /** Reads the configuration again. */
  readonly load: () => LoadResult;
  /** Told of the configuration that applies after it was read again. */
  readonly reloaded: (configuration: Configuration) => void;
}

/**
 * Does what a service manager expects of a ready service: reports that it is ready and then that it is alive, and reads
 * the configuration again on SIGHUP. @returns a function to call before the simulator is stopped.
 */
export function runService({
  room,
  configuration,
  manager,
  log,
  file,
  load,
  reloaded: onReloaded,
}: Service): () => void {
  const supervision = supervise(room.simulator, manager, log);
  let current = configuration;

  const onReload = async (): Promise<void> => {
    // Type=notify-reload (systemd 253 and later) also requires the time.
    manager.tell({ RELOADING: 1, MONOTONIC_USEC: `${process.hrtime.bigint() / 1000n}` });
    const reloaded = await reload(room, current, load(), file);
    current = reloaded.configuration;
    onReloaded(current);
    logReload(log, reloaded);
    const problem = reloaded.refused[0]?.split('\n')[0];
    supervision.note(problem === undefined ? undefined : `reload: ${problem}`);
    manager.tell({ READY: 1 });
  };
  // Reloads run one after another, because each compares with the result of the one before.
  let reloads = Promise.resolve();
  const onSignal = (): void => {
    reloads = reloads.then(onReload);
  };
  process.on('SIGHUP', onSignal);
  return () => {
    process.off('SIGHUP', onSignal);
    supervision.end();
  };
}

function logReload(log: Logger, { done, refused }: Reloaded): void {
  for (const text of refused) log.error(`not reloaded: ${text}`);
  log.info({ changed: done }, 'configuration read again');
}
