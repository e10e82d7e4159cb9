import type { Outlet } from './outlet.js';
import { standardOutput } from './standard.js';

/** Longest time between a stop signal and the end of the process, in ms. */
const STOP_LIMIT_MS = 1500;

/**
 * The stop signals. SIGHUP means that the terminal was closed. Under a service manager it is no stop signal:
 * it asks for a reload. SIGBREAK is Ctrl-Break of Windows; no other system has it.
 */
export const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGBREAK'];
export const SERVICE_STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Resolves when the process receives a stop signal. If the process prints for a reader, it also resolves when
 * nobody reads any more: other tools then end by SIGPIPE (signal(7)), which Node ignores. After a limited
 * time the process ends with exit code `late`, even if work is still going on. A second signal of the same
 * kind ends it at once.
 */
export function stopSignal(
  late: number,
  {
    signals = STOP_SIGNALS,
    reader,
  }: { readonly signals?: typeof STOP_SIGNALS; readonly reader?: Outlet } = {},
): Promise<undefined> {
  return new Promise((resolve) => {
    const onSignal = () => {
      setTimeout(() => process.exit(late), STOP_LIMIT_MS);
      resolve(undefined);
    };
    for (const signal of signals) process.once(signal, onSignal);
    void reader?.unread.then(onSignal);
  });
}

/** The stop signal of a command that prints for a reader, and whether it has come. */
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
