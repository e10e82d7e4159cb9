import type { ActionKind, ActionSource, ActiveCells, Bounds } from './action-kind.js';
import { increment } from './actions/increment.js';
import { random } from './actions/random.js';
import { reset } from './actions/reset.js';
import { timestamp } from './actions/timestamp.js';
import { uptime } from './actions/uptime.js';

/** Every action by its name in files. A new action is a file in `actions/` and a line here. */
export const ACTIONS = { increment, random, reset, timestamp, uptime } as const satisfies Record<
  string,
  ActionKind
>;

export type ActionName = keyof typeof ACTIONS;

export const ACTION_NAMES = Object.keys(ACTIONS) as readonly ActionName[];

/** An action of a register. */
export interface Action extends Bounds {
  readonly name: ActionName;
}

/** Runs the action of the cell at `address`, as a client's read does. */
export function runAction(image: ActiveCells, address: number, action: Action, source: ActionSource): void {
  ACTIONS[action.name].run(image, address, action, source);
}
