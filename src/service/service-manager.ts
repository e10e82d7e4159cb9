import type { KoffiFunc } from 'koffi';

/** systemd, or another service manager that listens as systemd does (sd_notify(3)). */
export interface ServiceManager {
  /** It ends this program when it has heard no `WATCHDOG=1` for so long, in ms; undefined when it does not watch. */
  readonly watchdogMs: number | undefined;
  /** Tells it assignments such as `READY=1`, one a line. What can't be delivered is lost. */
  tell(assignments: Readonly<Record<string, string | number>>): void;
}

export type ServiceManagerResult =
  | { readonly ok: true; readonly manager: ServiceManager }
  /** One sentence. */
  | { readonly ok: false; readonly error: string };

type Environment = Readonly<Record<string, string | undefined>>;

/** The file name that systemd has promised to keep. */
const LIBRARY = 'libsystemd.so.0';

/**
 * Finds the service manager that started this program; undefined when none did. Node has no datagram sockets of the
 * local kind, so the message goes through systemd's own library.
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

/** sd_watchdog_enabled(3): both variables are inherited by programs that this one may start, and not meant for them. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: Environment, pid: number): number | undefined {
  const microseconds = Number(WATCHDOG_USEC);
  if (WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== pid) return undefined;
  return microseconds > 0 ? microseconds / 1000 : undefined;
}

/** Assignments end with their line, so a value has only one. */
function textOf(assignments: Readonly<Record<string, string | number>>): string {
  return Object.entries(assignments)
    .map(([name, value]) => `${name}=${String(value).replaceAll('\n', ' ')}`)
    .join('\n');
}
