import type { KoffiFunc } from 'koffi';

/** systemd, or another service manager with the same protocol (sd_notify(3)). */
export interface ServiceManager {
  /** The manager ends this program after this time without `WATCHDOG=1`, in ms; undefined without a watchdog. */
  readonly watchdogMs: number | undefined;
  /** Sends assignments such as `READY=1`, one per line. Messages that can't be delivered are lost. */
  tell(assignments: Readonly<Record<string, string | number>>): void;
}

export type ServiceManagerResult =
  | { readonly ok: true; readonly manager: ServiceManager }
  /** One sentence. */
  | { readonly ok: false; readonly error: string };

type Environment = Readonly<Record<string, string | undefined>>;

/** systemd guarantees that this file name stays. */
const LIBRARY = 'libsystemd.so.0';

/**
 * Finds the service manager that started this program; undefined when none did. Node has no Unix datagram sockets, so
 * messages are sent through systemd's own library.
 */
export async function findServiceManager(env: Environment): Promise<ServiceManagerResult | undefined> {
  if (!env.NOTIFY_SOCKET) return undefined;
  let sdNotify: KoffiFunc<(unsetEnvironment: number, state: string) => number>;
  try {
    const { default: koffi } = await import('koffi');
    sdNotify = koffi.load(LIBRARY).func('sd_notify', 'int', ['int', 'str']);
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    return {
      ok: false,
      error: `the service manager can't be told that this program is ready, and may end it: ${LIBRARY} did not load (${reason})`,
    };
  }
  return {
    ok: true,
    manager: { watchdogMs: watchdogMs(env, process.pid), tell: (told) => void sdNotify(0, textOf(told)) },
  };
}

/** See sd_watchdog_enabled(3). Child processes inherit both variables, so WATCHDOG_PID names the process meant. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: Environment, pid: number): number | undefined {
  const microseconds = Number(WATCHDOG_USEC);
  if (WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== pid) return undefined;
  return microseconds > 0 ? microseconds / 1000 : undefined;
}

/** A line break ends an assignment, so values must not contain any. */
function textOf(assignments: Readonly<Record<string, string | number>>): string {
  return Object.entries(assignments)
    .map(([name, value]) => `${name}=${String(value).replaceAll('\n', ' ')}`)
    .join('\n');
}
