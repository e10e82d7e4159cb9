import type { Logger } from 'pino';
import type { Configuration } from '../config/configuration.js';
import type { LoadResult } from '../config/load.js';
import type { Simulator } from '../simulator/simulator.js';
import { type Reloaded, reload } from './reload.js';
import type { ServiceManager } from './service-manager.js';
import { supervise } from './supervision.js';

export interface Service {
  readonly simulator: Simulator;
  /** What the simulator was built from. */
  readonly configuration: Configuration;
  readonly manager: ServiceManager;
  readonly log: Logger;
  /** Name of the configuration, for messages. */
  readonly file: string;
  /** Reads the configuration again. */
  readonly load: () => LoadResult;
}

/**
 * What a service manager expects of a service that is ready: to be told so, to be told that all is well, and that
 * SIGHUP makes the service read its configuration again. @returns how to end it, before the simulator is stopped.
 */
export function runService({ simulator, configuration, manager, log, file, load }: Service): () => void {
  const supervision = supervise(simulator, manager, log);
  let current = configuration;

  const onReload = async (): Promise<void> => {
    // Type=notify-reload of systemd 253 and later wants to know the time, too.
    manager.tell({ RELOADING: 1, MONOTONIC_USEC: `${process.hrtime.bigint() / 1000n}` });
    const reloaded = await reload(simulator, current, load(), file);
    current = reloaded.configuration;
    logReload(log, reloaded);
    const problem = reloaded.refused[0]?.split('\n')[0];
    supervision.note(problem === undefined ? undefined : `reload: ${problem}`);
    manager.tell({ READY: 1 });
  };
  // Each starts from what the one before has left.
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
