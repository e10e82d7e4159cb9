/** Nothing may keep the process from ending when it was asked to. */
const STOP_LIMIT_MS = 1500;

/** SIGHUP is the terminal that was closed; from a service manager, the order to read the configuration again. */
const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP'];
export const SERVICE_STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/**
 * Resolves once the process was asked to end. From then on it has a limited time: then it ends with the exit code
 * `late`, whatever is still going on. Another signal of the same kind ends it at once.
 */
export function stopSignal(late: number, signals = STOP_SIGNALS): Promise<undefined> {
  return new Promise((resolve) => {
    const onSignal = () => {
      setTimeout(() => process.exit(late), STOP_LIMIT_MS);
      resolve(undefined);
    };
    for (const signal of signals) process.once(signal, onSignal);
  });
}
