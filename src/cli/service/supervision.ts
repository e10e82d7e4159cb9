import type { Logger } from 'pino';
import { lineStatus } from '../../simulator/line-status.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { ServiceManager } from './service-manager.js';
import { statusText } from './status-text.js';
import { StuckLines } from './stuck-lines.js';

/** What is supervised, and where reports go. */
export interface Supervised {
  readonly manager: ServiceManager;
  readonly log: Logger;
  /** Address of REST, for the status text; undefined if the user has chosen the port and so knows it. */
  readonly rest: string | undefined;
}

export interface Supervision {
  /** Sets the text that follows the state of the lines in the status text. */
  note(text: string | undefined): void;
  /** Reports to the service manager that the program is about to end, and stops all other reports. */
  end(): void;
}

/** Interval of status updates, in ms. */
const LOOK_MS = 1000;

/**
 * Reports to the service manager that the simulator is ready, then the state of its lines, and feeds the
 * watchdog as long as the event loop runs and no line is stuck.
 */
export function supervise(simulator: Simulator, { manager, log, rest }: Supervised): Supervision {
  const stuckLines = new StuckLines();
  let noted: string | undefined;
  let told = '';
  let fedAt = Number.NEGATIVE_INFINITY;

  const status = (): string => {
    const lines = statusText(Array.from(simulator.lines.values(), lineStatus));
    return [lines, rest && `REST on ${rest}`, noted].filter((text) => text !== undefined).join('; ');
  };
  const reportStatus = (more: Readonly<Record<string, string | number>> = {}): void => {
    const text = status();
    if (text === told && Object.keys(more).length === 0) return;
    told = text;
    manager.notify({ ...more, STATUS: text });
  };
  const feed = (now: number): void => {
    // Feed twice as often as needed (sd_watchdog_enabled(3)). The next chance is LOOK_MS away.
    if (manager.watchdogMs === undefined || now - fedAt < manager.watchdogMs / 2 - LOOK_MS) return;
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
      log.error({ lines: stuck }, 'a reply does not come to its end; the watchdog is not fed any more');
    }
  };

  reportStatus({ READY: 1 });
  const timer = setInterval(() => {
    reportStatus();
    feed(performance.now());
  }, LOOK_MS);
  return {
    note(text) {
      noted = text;
      reportStatus();
    },
    end() {
      clearInterval(timer);
      manager.notify({ STOPPING: 1 });
    },
  };
}
