import { writeSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import type { Logger } from 'pino';
import { failure, type Result, success } from '../../common/result.js';
import { counted } from '../../common/words.js';
import type { ReplyPlan } from '../../modbus/protocol/reply-plan.js';
import { loadLibc } from '../../modbus/transport/port/libc.js';
import { type LineStatus, lineStatus } from '../../simulator/line-status.js';
import type { Simulator } from '../../simulator/simulator.js';

/** systemd, or another service manager with the same protocol (sd_notify(3)). */
interface ServiceManager {
  /**
   * Maximum time between `WATCHDOG=1` messages, in ms, before the manager kills this program; undefined
   * without a watchdog.
   */
  readonly watchdogMs: number | undefined;
  /** Sends assignments such as `READY=1`, one per line. Messages that can't be delivered are lost. */
  notify(assignments: Readonly<Record<string, string | number>>): void;
}

type ServiceManagerResult =
  | { readonly ok: true; readonly manager: ServiceManager }
  /** The error is one sentence. */
  | { readonly ok: false; readonly error: string };

/**
 * The first descriptor passed to a service (sd_listen_fds(3)), and the name of our descriptor in the units
 * (OpenFile=).
 */
const FIRST_PASSED = 3;
const PASSED_NAME = 'notify';

/** Finds the service manager that started this program; undefined if none did. */
export async function findServiceManager(env: NodeJS.ProcessEnv): Promise<ServiceManagerResult | undefined> {
  if (!env.NOTIFY_SOCKET) return undefined;
  const passed = passedDescriptor(env);
  const socket = passed === undefined ? await connectTo(env.NOTIFY_SOCKET) : success(passed);
  if (!socket.ok) {
    const error = `the service manager can't be notified that this program is ready, and may stop it: ${socket.error}`;
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
 * The descriptor of systemd's socket, which systemd 253 and later open for us. Node has no Unix datagrams, so
 * this avoids a native module.
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
    // If the manager does not read, the message is lost. The watchdog is fed again soon.
  }
}

/**
 * Watchdog interval in ms; see sd_watchdog_enabled(3). Child processes inherit both variables, so
 * WATCHDOG_PID names the process that they are for.
 */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv, pid: number): number | undefined {
  const microseconds = Number(WATCHDOG_USEC);
  if (WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== pid) return undefined;
  return microseconds > 0 ? microseconds / 1000 : undefined;
}

/** Formats assignments, one per line. Values must not contain a line break, because it would end the assignment. */
function textOf(assignments: Readonly<Record<string, string | number>>): string {
  return Object.entries(assignments)
    .map(([name, value]) => `${name}=${String(value).replaceAll('\n', ' ')}`)
    .join('\n');
}

/** What is supervised, and where reports are sent. */
interface Supervised {
  readonly manager: ServiceManager;
  readonly log: Logger;
  /** REST address for the status text; undefined if the user chose the port and so knows it. */
  readonly rest: string | undefined;
}

export interface Supervision {
  /** Reports that the configuration is being read again. */
  reloading(): void;
  /**
   * Reports that the configuration has been read. @param problem text that follows the state of the lines
   * from now on
   */
  reloaded(problem: string | undefined): void;
  /** Tells the service manager that the program is about to end, and stops all other reports. */
  end(): void;
}

/** Interval between status updates, in ms. */
const UPDATE_MS = 1000;

/**
 * Tells the service manager that the simulator is ready, and then reports the state of its lines. Feeds the
 * watchdog while the event loop runs and no line is stuck.
 */
export function supervise(simulator: Simulator, { manager, log, rest }: Supervised): Supervision {
  const stuckLines = new StuckLines();
  let noted: string | undefined;
  let sent = '';
  let fedAt = Number.NEGATIVE_INFINITY;

  const status = (): string => {
    const lines = statusText(Array.from(simulator.lines.values(), lineStatus));
    return [lines, rest && `REST on ${rest}`, noted].filter((text) => text !== undefined).join('; ');
  };
  const reportStatus = (more: Readonly<Record<string, string | number>> = {}): void => {
    const text = status();
    if (text === sent && Object.keys(more).length === 0) return;
    sent = text;
    manager.notify({ ...more, STATUS: text });
  };
  const feed = (now: number): void => {
    // Feed twice as often as required (sd_watchdog_enabled(3)). The next chance is UPDATE_MS away.
    if (manager.watchdogMs === undefined || now - fedAt < manager.watchdogMs / 2 - UPDATE_MS) return;
    const lines = Array.from(simulator.lines.values(), (line) => ({
      name: line.name,
      characterTime: lineStatus(line).times?.characterTime ?? 0,
      oldestPlan: line.oldestPending?.plan,
    }));
    const stuck = stuckLines.look(lines, now);
    if (stuck.length === 0) {
      fedAt = now;
      manager.notify({ WATCHDOG: 1 });
    } else {
      log.error({ lines: stuck }, 'a reply does not end; the watchdog gets no more signals');
    }
  };

  reportStatus({ READY: 1 });
  const timer = setInterval(() => {
    reportStatus();
    feed(performance.now());
  }, UPDATE_MS);
  return {
    reloading() {
      // Type=notify-reload (systemd 253 and later) also needs the time.
      manager.notify({ RELOADING: 1, MONOTONIC_USEC: `${process.hrtime.bigint() / 1000n}` });
    },
    reloaded(problem) {
      noted = problem && `reload: ${problem}`;
      reportStatus();
      manager.notify({ READY: 1 });
    },
    end() {
      clearInterval(timer);
      manager.notify({ STOPPING: 1 });
    },
  };
}

/** The properties of a line that {@link StuckLines} reads. */
interface WatchedLine {
  readonly name: string;
  /** Time of one character on the wire, in ms; 0 if the line is not serial. */
  readonly characterTime: number;
  /** The reply plan that has been playing for longest. The same plan is the same object on every call. */
  readonly oldestPlan: ReplyPlan | undefined;
}

/**
 * An overdue reply counts as stuck after this time, in ms. It is far longer than any delay from a busy
 * machine or a slow client.
 */
const PATIENCE_MS = 60_000;

/** Finds lines that have planned a reply but never finish playing it. */
export class StuckLines {
  /** The oldest unfinished reply of each line, and when it became the oldest, in ms. */
  readonly #oldest = new Map<string, { readonly plan: ReplyPlan; readonly since: number }>();

  /**
   * Finds stuck lines. Call it regularly.
   * @param now in ms
   * @returns names of the stuck lines
   */
  look(lines: Iterable<WatchedLine>, now: number): string[] {
    return Array.from(lines).flatMap(({ name, characterTime, oldestPlan: plan }) => {
      if (plan === undefined) {
        this.#oldest.delete(name);
        return [];
      }
      // A reply waits for earlier ones, so its time counts from when it became the oldest.
      const known = this.#oldest.get(name);
      const since = known?.plan === plan ? known.since : now;
      this.#oldest.set(name, { plan, since });
      return now - since > durationOf(plan, characterTime) + PATIENCE_MS ? [name] : [];
    });
  }
}

/** How long a plan takes if nothing delays it, in ms. Faults can make a plan last an hour. */
function durationOf(plan: ReplyPlan, characterTime: number): number {
  if (plan.kind === 'silence') return 0;
  return plan.steps.reduce((sum, step) => {
    const length =
      step.kind === 'bytes' ? step.bytes.length * characterTime : step.kind === 'break' ? step.ms : 0;
    return sum + step.waitMs + length;
  }, 0);
}

/** The status text for the service manager, such as `3 lines open, 1 waiting for /dev/ttyUSB0`. */
export function statusText(lines: readonly Pick<LineStatus, 'state' | 'endpoint'>[]): string {
  const placesOf = (state: LineStatus['state']) =>
    lines.filter((line) => line.state === state).map(({ endpoint }) => endpoint);
  const [open, waiting, failed, stopped] = [
    placesOf('open'),
    placesOf('waiting'),
    placesOf('failed'),
    placesOf('stopped'),
  ];
  return [
    `${counted(open.length, 'line')} open`,
    ...(waiting.length > 0 ? [`${waiting.length} waiting for ${waiting.join(', ')}`] : []),
    ...(failed.length > 0 ? [`${failed.length} failed on ${failed.join(', ')}`] : []),
    ...(stopped.length > 0 ? [`${stopped.length} stopped`] : []),
  ].join(', ');
}
