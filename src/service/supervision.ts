import type { Logger } from 'pino';
import { lineStatus } from '../simulator/line-status.js';
import type { Simulator } from '../simulator/simulator.js';
import type { ServiceManager } from './service-manager.js';
import { statusText } from './status-text.js';
import { StuckLines } from './stuck-lines.js';

export interface Supervision {
  /** What follows the state of the lines in the status text, until it is replaced. */
  note(text: string | undefined): void;
  /** Tells the service manager that the program is about to end, and nothing more. */
  end(): void;
}

/** A port that comes or goes shows in the status within this time, in ms. */
const LOOK_MS = 1000;

/**
 * Tells the service manager that the simulator is ready, how its lines are, and that it is alive: as long as the event
 * loop turns and no line is stuck.
 */
export function supervise(simulator: Simulator, manager: ServiceManager, log: Logger): Supervision {
  const stuckLines = new StuckLines();
  let noted: string | undefined;
  let told = '';
  let fedAt = Number.NEGATIVE_INFINITY;

  const status = (): string => {
    const lines = statusText(Array.from(simulator.lines.values(), lineStatus));
    return noted === undefined ? lines : `${lines}; ${noted}`;
  };
  const tellStatus = (more: Readonly<Record<string, string | number>> = {}): void => {
    const text = status();
    if (text === told && Object.keys(more).length === 0) return;
    told = text;
    manager.tell({ ...more, STATUS: text });
  };
  const feed = (now: number): void => {
    // Twice as often as needed (sd_watchdog_enabled(3)), and the next look is a second away.
    if (manager.watchdogMs === undefined || now - fedAt < manager.watchdogMs / 2 - LOOK_MS) return;
    const lines = Array.from(simulator.lines.values(), (line) => ({
      name: line.name,
      characterTime: lineStatus(line).times?.characterTime ?? 0,
    }));
    const stuck = stuckLines.look(lines, simulator.ledger.latest(), now);
    if (stuck.length === 0) {
      fedAt = now;
      manager.tell({ WATCHDOG: 1 });
    } else {
      log.error({ lines: stuck }, 'a reply does not come to its end; the watchdog is not fed any more');
    }
  };

  tellStatus({ READY: 1 });
  const timer = setInterval(() => {
    tellStatus();
    feed(performance.now());
  }, LOOK_MS);
  return {
    note(text) {
      noted = text;
      tellStatus();
    },
    end() {
      clearInterval(timer);
      manager.tell({ STOPPING: 1 });
    },
  };
}
