/** Nothing may keep the process from ending when it was asked to. */
const STOP_LIMIT_MS = 1500;

/** SIGHUP is the terminal that was closed. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Resolves once the process was asked to end. From then on it has a limited time: then it ends with the exit code
 * `late`, whatever is still going on. Another signal of the same kind ends it at once.
 */
export function stopSignal(late: number): Promise<undefined> {
  return new Promise((resolve) => {
    const onSignal = () => {
      setTimeout(() => process.exit(late), STOP_LIMIT_MS);
      resolve(undefined);
    };
    for (const signal of STOP_SIGNALS) process.once(signal, onSignal);
  });
}
