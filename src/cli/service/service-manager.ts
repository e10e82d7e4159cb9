import { writeSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { loadLibc } from '../../modbus/transport/port/libc.js';

/** systemd, or another service manager with the same protocol (sd_notify(3)). */
export interface ServiceManager {
  /** The manager ends this program after this time without `WATCHDOG=1`, in ms; undefined without a watchdog. */
  readonly watchdogMs: number | undefined;
  /** Sends assignments such as `READY=1`, one per line. Messages that can't be delivered are lost. */
  notify(assignments: Readonly<Record<string, string | number>>): void;
}

export type ServiceManagerResult =
  | { readonly ok: true; readonly manager: ServiceManager }
  /** One sentence. */
  | { readonly ok: false; readonly error: string };

/** The first descriptor that is passed to a service (sd_listen_fds(3)), and the name of ours in the units (OpenFile=). */
const FIRST_PASSED = 3;
const PASSED_NAME = 'notify';

/** Finds the service manager that started this program; undefined when none did. */
export async function findServiceManager(env: NodeJS.ProcessEnv): Promise<ServiceManagerResult | undefined> {
  if (!env.NOTIFY_SOCKET) return undefined;
  const descriptor = passedDescriptor(env) ?? (await connectTo(env.NOTIFY_SOCKET));
  if (typeof descriptor === 'string') {
    const error = `the service manager can't be told that this program is ready, and may end it: ${descriptor}`;
    return { ok: false, error };
  }
  return {
    ok: true,
    manager: {
      watchdogMs: watchdogMs(env, process.pid),
      notify: (assignments) => send(descriptor, textOf(assignments)),
    },
  };
}

/** systemd 253 and later has the socket opened for us, so that nothing native is needed: Node has no Unix datagrams. */
function passedDescriptor({ LISTEN_PID, LISTEN_FDNAMES = '' }: NodeJS.ProcessEnv): number | undefined {
  const at = LISTEN_FDNAMES.split(':').indexOf(PASSED_NAME);
  return at >= 0 && Number(LISTEN_PID) === process.pid ? FIRST_PASSED + at : undefined;
}

/** @returns a descriptor, or why there is none */
async function connectTo(path: string): Promise<number | string> {
  const loaded = await loadLibc();
  if (!loaded.ok) return loaded.reason;
  const result = loaded.libc.connectDatagrams(path);
  return result < 0 ? `${path}: ${getSystemErrorName(result)}` : result;
}

function send(descriptor: number, message: string): void {
  try {
    writeSync(descriptor, message);
  } catch {
    // A manager that does not read has no use for it. The watchdog is fed again soon.
  }
}

/** See sd_watchdog_enabled(3). Child processes inherit both variables, so WATCHDOG_PID names the process meant. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv, pid: number): number | undefined {
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
