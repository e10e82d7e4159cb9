import type { Outlet } from './outlet.js';

/** The process ends at the latest this long after a stop signal. */
const STOP_LIMIT_MS = 1500;

/** SIGHUP means that the terminal was closed; under a service manager, to read the configuration again. */
const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP'];
export const SERVICE_STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Resolves when the process receives a stop signal, or nobody reads what it prints any more, if it prints for a reader: other
 * tools end by SIGPIPE then (signal(7)), which Node ignores. After a limited time the process then ends with exit code `late`,
 * even if work is still going on. A second signal of the same kind ends it at once.
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
