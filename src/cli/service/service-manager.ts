import { writeSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { failure, type Result, success } from '../../common/result.js';
import { loadLibc } from '../../modbus/transport/port/libc.js';

/** systemd, or another service manager with the same protocol (sd_notify(3)). */
export interface ServiceManager {
  /**
   * Longest time without `WATCHDOG=1`, in ms, after which the manager ends this program; undefined without a
   * watchdog.
   */
  readonly watchdogMs: number | undefined;
  /** Sends assignments such as `READY=1`, one per line. Messages that can't be delivered are lost. */
  notify(assignments: Readonly<Record<string, string | number>>): void;
}

export type ServiceManagerResult =
  | { readonly ok: true; readonly manager: ServiceManager }
  /** The error is one sentence. */
  | { readonly ok: false; readonly error: string };

/**
 * The first descriptor that is passed to a service (sd_listen_fds(3)), and the name of our descriptor in the
 * units (OpenFile=).
 */
const FIRST_PASSED = 3;
const PASSED_NAME = 'notify';

/** Finds the service manager that started this program; undefined when none did. */
export async function findServiceManager(env: NodeJS.ProcessEnv): Promise<ServiceManagerResult | undefined> {
  if (!env.NOTIFY_SOCKET) return undefined;
  const passed = passedDescriptor(env);
  const socket = passed === undefined ? await connectTo(env.NOTIFY_SOCKET) : success(passed);
  if (!socket.ok) {
    const error = `the service manager can't be told that this program is ready, and may end it: ${socket.error}`;
    return failure(error);
  }
  return {
    ok: true,
    manager: {
      watchdogMs: watchdogMs(env, process.pid),
      notify: (assignments) => send(socket.value, textOf(assignments)),
    },
  };
}

/**
 * The descriptor of the socket of systemd. From version 253 on, systemd opens the socket for us. Node has no
 * Unix datagrams, so this avoids a native module.
 */
function passedDescriptor({ LISTEN_PID, LISTEN_FDNAMES = '' }: NodeJS.ProcessEnv): number | undefined {
  const at = LISTEN_FDNAMES.split(':').indexOf(PASSED_NAME);
  return at >= 0 && Number(LISTEN_PID) === process.pid ? FIRST_PASSED + at : undefined;
}

/** @returns a descriptor, or a sentence that says why there is none */
async function connectTo(path: string): Promise<Result<number>> {
  const loaded = await loadLibc();
  if (!loaded.ok) return failure(loaded.error);
  const result = loaded.libc.connectDatagrams(path);
  return result < 0 ? failure(`${path}: ${getSystemErrorName(result)}`) : success(result);
}

function send(descriptor: number, message: string): void {
  try {
    writeSync(descriptor, message);
  } catch {
    // A message is lost when the manager does not read. The watchdog is fed again soon.
  }
}

/**
 * Interval of the watchdog in ms; see sd_watchdog_enabled(3). Child processes inherit both variables, so
 * WATCHDOG_PID names the process that is meant.
 */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv, pid: number): number | undefined {
  const microseconds = Number(WATCHDOG_USEC);
  if (WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== pid) return undefined;
  return microseconds > 0 ? microseconds / 1000 : undefined;
}

/**
 * The text of assignments, one per line. Values must not contain a line break, because it ends an assignment.
 */
function textOf(assignments: Readonly<Record<string, string | number>>): string {
  return Object.entries(assignments)
    .map(([name, value]) => `${name}=${String(value).replaceAll('\n', ' ')}`)
    .join('\n');
}
