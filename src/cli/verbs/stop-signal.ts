import { closeSync, openSync } from 'node:fs';
import { HERE } from '../../common/platform.js';
import type { Outlet } from './outlet.js';
import { standardOutput } from './standard.js';

/** Maximum time between a stop signal and the end of a command, in ms: it may still have reports to write. */
const STOP_LIMIT_MS = 10_000;
/** The same for a program that serves; saving its state comes on top. */
const SERVER_STOP_LIMIT_MS = 1500;
/** These times are counted in steps of this many ms, so the time that a stalled machine withholds does not count. */
const STEP_MS = 50;

/**
 * The stop signals. SIGHUP means that the terminal was closed; for a program that serves a file it may
 * instead request a reload (`hangUps`). SIGBREAK is Ctrl-Break on Windows; other systems do not have it.
 */
export const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGBREAK'];
const SERVER_STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGBREAK'];

/**
 * The stop signal of a program that serves a file. SIGHUP makes it read the file again, unless the program
 * has lost the terminal that it was started on. In that case the terminal was closed, and the program ends.
 * @param save see `stopSignal`
 */
export function stopOfServer(
  late: number,
  save: () => Promise<void> | undefined,
): {
  readonly stop: Promise<undefined>;
  /** Calls back on each reload request. @returns a function that stops this */
  onReload(reload: () => void): () => void;
} {
  const hadTerminal = hasTerminal();
  let wanted: (() => void) | undefined;
  let end: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    end = resolve;
  });
  process.on('SIGHUP', () => {
    if (HERE.isWindows || (hadTerminal && !hasTerminal())) end();
    else wanted?.();
  });
  return {
    stop: stopSignal(late, { signals: SERVER_STOP_SIGNALS, save, closed }),
    onReload(reload) {
      wanted = reload;
      return () => {
        wanted = undefined;
      };
    },
  };
}

/** Whether this process has a terminal. It is gone once the terminal was closed (tty(4)). */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/**
 * Resolves when the process receives a stop signal. If the process prints for a reader, it also resolves when
 * the reader is gone: other tools then end by SIGPIPE (signal(7)), which Node ignores. After a limited time
 * the process ends with exit code `late`, even if work is not finished. A second signal of the same kind ends
 * it at once.
 */
export function stopSignal(
  late: number,
  {
    signals = STOP_SIGNALS,
    reader,
    save,
    closed,
  }: {
    readonly signals?: typeof STOP_SIGNALS;
    readonly reader?: Outlet;
    /** Saves the state of a program that serves. It is waited for, however long that takes. */
    readonly save?: () => Promise<void> | undefined;
    /** Resolves if the program is to stop for another reason. */
    readonly closed?: Promise<void>;
  } = {},
): Promise<undefined> {
  return new Promise((resolve) => {
    const onSignal = () => {
      let steps = (save ? SERVER_STOP_LIMIT_MS : STOP_LIMIT_MS) / STEP_MS;
      setInterval(async () => {
        if (--steps !== 0) return;
        // Its failure is reported by what stops the program, if that still gets to it.
        await save?.()?.catch(() => {});
        process.exit(late);
      }, STEP_MS);
      resolve(undefined);
    };
    for (const signal of signals) process.once(signal, onSignal);
    void reader?.unread.then(onSignal);
    void closed?.then(onSignal);
  });
}

/** The stop signal of a command that prints for a reader, and whether it has arrived. */
export interface ReaderStop {
  readonly signal: Promise<unknown>;
  readonly isStopped: boolean;
}

/** Waits for the stop signal of a command that prints for a reader. @param late see `stopSignal` */
export function stopOfReader(late: number): ReaderStop {
  const signal = stopSignal(late, { reader: standardOutput() });
  const stop = { signal, isStopped: false };
  void signal.then(() => {
    stop.isStopped = true;
  });
  return stop;
}
