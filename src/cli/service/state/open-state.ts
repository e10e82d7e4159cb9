import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Configuration } from '../../../files/config/configuration.js';
import type { CommandContext } from '../../../simulator/commands/context.js';
import type { StateOptions } from '../../command-line/commands/serve.js';
import { restoreState } from './restore-state.js';
import { StateFiles } from './state-files.js';
import { StateKeeper } from './state-keeper.js';

interface StateWanted {
  readonly context: CommandContext;
  readonly configuration: Configuration;
  readonly log: Logger;
  readonly options: StateOptions;
  /** Name of the configuration, for messages. */
  readonly file: string;
  /** Resolves when the program is asked to stop. */
  readonly stop: Promise<unknown>;
}

type OpenState =
  | {
      readonly ok: true;
      readonly keeper: StateKeeper;
      /**
       * Names of lines whose settings differ from the configuration; the start does not fail when one of them
       * can't be opened.
       */
      readonly lines: ReadonlySet<string>;
      readonly description: string;
    }
  | { readonly ok: false; readonly error: string };

/**
 * Restores the state of a simulator that is not started yet.
 * @returns undefined when no state is kept; an error when the directory of the state can't be used
 */
export async function openState({
  context,
  configuration,
  log,
  options,
  file,
  stop,
}: StateWanted): Promise<OpenState | undefined> {
  const { directory = configuration.keepsState && options.ofService } = options;
  if (!directory) {
    if (!configuration.keepsState) return undefined;
    return {
      ok: false,
      error: `${file}: state: keep needs a directory: start with --state DIR, or as a service with StateDirectory=`,
    };
  }
  const files = new StateFiles(resolve(directory));
  // A program that is stopped while it starts was not ended by its state.
  void stop.then(() => files.started()).catch(() => {});
  const now = () => Date.now();
  try {
    const restored = await restoreState({ context, files, file: configuration, log, now });
    const kept = { simulator: context.simulator, files, log, now, uptime: () => performance.now() };
    const keeper = new StateKeeper(kept, configuration, restored);
    return { ok: true, keeper, lines: restored.lines, description: describe(files.directory, restored) };
  } catch (error) {
    return { ok: false, error: `the directory of the state can't be used: ${(error as Error).message}` };
  }
}

function describe(
  directory: string,
  { devices, lines, setAside }: Awaited<ReturnType<typeof restoreState>>,
): string {
  const counts = [
    `${counted(devices.size, 'device')} and ${counted(lines.size, 'line')} as they were before`,
    ...(setAside > 0 ? [`${counted(setAside, 'file')} set aside (see the log)`] : []),
  ];
  return `state in ${directory}: ${counts.join(', ')}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
