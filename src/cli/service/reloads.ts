import { type FSWatcher, statSync, watch } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Logger } from 'pino';
import { formatProblems, formatWarnings } from '../../common/schema/problem.js';
import type { Configuration } from '../../document/configuration.js';
import type { LoadResult } from '../../document/load.js';
import type { CommandContext } from '../../simulator/commands/context.js';
import { defectText, reload } from '../../simulator/state/reconcile.js';
import { laterText, type ReloadAnswer, type ReloadRequest } from './reload-socket.js';

/** A configuration that can be read again while its simulator runs. */
interface Reloading {
  /** The context of commands, with the owner's rights. */
  readonly context: CommandContext;
  /** The configuration that the simulator was built from. */
  readonly configuration: Configuration;
  /** Name of the configuration, for messages. */
  readonly file: string;
  /** Reads the configuration again. */
  readonly load: () => LoadResult | Promise<LoadResult>;
  readonly log: Logger;
  /** Called before the file is read. */
  readonly begins?: (() => void) | undefined;
  /** Called with the configuration that now applies, and with the first problem. */
  readonly reloaded: (configuration: Configuration, problem: string | undefined) => void;
}

/**
 * Reads the configuration of a running simulator again and applies what has changed. Reloads run one at a
 * time, because each compares with the result of the previous one. A request that arrives while a reload is
 * still queued shares that reload, which has not read the file yet.
 */
export class Reloads {
  readonly #reloading: Reloading;
  #current: Configuration;
  #last: Promise<unknown> = Promise.resolve();
  #queued: Promise<ReloadAnswer> | undefined;

  constructor(reloading: Reloading) {
    this.#reloading = reloading;
    this.#current = reloading.configuration;
  }

  /**
   * Never rejects: failures are reported to everyone who asked, and the next reload tries again.
   * @param show shows the result to a person, instead of logging it
   */
  ask(request: ReloadRequest, show?: (answer: ReloadAnswer) => void): Promise<ReloadAnswer> {
    if (request === 'preview') {
      const preview = this.#last.then(() => this.#answer(true));
      this.#last = preview;
      return preview;
    }
    this.#queued ??= this.#last.then(() => this.#again(show ?? ((answer) => this.#log(answer))));
    this.#last = this.#queued;
    return this.#queued;
  }

  async #again(show: (answer: ReloadAnswer) => void): Promise<ReloadAnswer> {
    this.#queued = undefined;
    const { begins, reloaded } = this.#reloading;
    begins?.();
    const answer = await this.#answer(false);
    show(answer);
    const { mistakes = [], refused, atRestart = [] } = answer;
    reloaded(this.#current, [...mistakes, ...refused, ...atRestart.map(laterText)][0]);
    return answer;
  }

  #log({ mistakes = [], warnings, done, refused, atRestart = [] }: ReloadAnswer): void {
    const { log } = this.#reloading;
    for (const text of mistakes) log.error(`not reloaded: ${text}`);
    for (const text of warnings) log.warn(text);
    for (const text of refused) log.warn(`not changed: ${text}`);
    for (const what of atRestart) log.warn(laterText(what));
    for (const what of done) log.info(`changed: ${what}`);
    if (mistakes.length + refused.length + atRestart.length + done.length === 0)
      log.info('nothing has changed');
  }

  async #answer(preview: boolean): Promise<ReloadAnswer> {
    const { context, file, load, log } = this.#reloading;
    const nothing = { done: [], refused: [], atRestart: [] };
    try {
      const loaded = await load();
      const warnings = loaded.warnings.map((each) => formatWarnings(file, [each]));
      if (!loaded.ok)
        return {
          mistakes: loaded.problems.map((each) => formatProblems(file, [each])),
          warnings,
          ...nothing,
        };
      const { configuration, ...answer } = await reload(context, this.#current, loaded.configuration, {
        preview,
      });
      if (!preview) this.#current = configuration;
      return { warnings, ...answer };
    } catch (error) {
      log.error({ err: error }, 'the configuration could not be reloaded');
      return { mistakes: [`${file}: ${defectText(error as Error)}`], warnings: [], ...nothing };
    }
  }
}

/** An editor may still be writing for this long after the first change to a file, in ms. */
const SETTLED_MS = 100;

/**
 * Calls back each time a file is saved. Watches its directory, because editors replace the file with another
 * one.
 * @returns a function that stops watching
 */
export function watchFile(file: string, saved: () => void): () => void {
  const stateOf = () => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
  };
  let known = stateOf();
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const now = stateOf();
    // An editor may remove the old file before the new one exists.
    if (now === known || now === undefined) return;
    known = now;
    saved();
  };
  const watcher: FSWatcher = watch(dirname(resolve(file)), { persistent: false }, () => {
    clearTimeout(timer);
    timer = setTimeout(look, SETTLED_MS);
  });
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
