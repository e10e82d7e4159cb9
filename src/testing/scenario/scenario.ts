import type { Device } from '../../device/device.js';
import type { FaultRule } from '../../device/faults/rule.js';
import type { Manners } from '../../device/manners.js';
import type { Interruption } from '../../device/power.js';
import type { Value } from '../../device/registers/value.js';
import type { DeviceValue } from '../../simulator/commands/device-value.js';
import type { Line } from '../../simulator/line.js';
import type { DutDefinition } from './dut.js';
import type { Matcher } from './matcher.js';

/** A checked scenario. All times are in ms. */
export interface Scenario {
  readonly name: string;
  /** The seed of the random parts of faults that have no seed of their own. */
  readonly seed: number;
  readonly lines: readonly string[];
  /** The program under test; absent when it runs already. */
  readonly dut?: DutDefinition;
  /** The file for the traffic of the whole test, as the scenario names it. */
  readonly capture?: string;
  /** Requests and replies that must not come at any time. */
  readonly always: readonly Forbidden[];
  readonly steps: readonly ScenarioStep[];
}

/** One step: first its actions, then what is watched until the step ends. */
export interface ScenarioStep {
  readonly name: string;
  /** Fault rules that are in force until the step ends. */
  readonly faults: readonly FaultRule[];
  readonly changes: readonly ValueChange[];
  /** Manners that devices have besides their own until the step ends. */
  readonly manners: readonly MannersChange[];
  /** Lines that are closed with all their connections until the step ends. */
  readonly closed: readonly Line[];
  readonly power: readonly PowerChange[];
  readonly clocks: readonly ClockStep[];
  /** Bytes that lines send once, when the step begins. */
  readonly unsolicited: readonly UnsolicitedBytes[];
  /** What becomes of the program under test before the step watches; absent when it goes on. */
  readonly dut?: 'stop' | 'start' | 'restart' | undefined;
  readonly goal: Goal;
  /** Requests and replies that must not come during the step. */
  readonly never: readonly Forbidden[];
  /** The file for the traffic of the step, as the scenario names it. */
  readonly capture?: string;
}

export interface ValueChange {
  readonly target: DeviceValue;
  readonly value: Value;
}

export interface MannersChange {
  readonly device: Device;
  readonly manners: Manners;
}

export interface UnsolicitedBytes {
  readonly line: Line;
  readonly bytes: Uint8Array;
}

export interface PowerChange {
  readonly device: Device;
  /** `on` gives the device its power back. */
  readonly change: 'on' | Interruption;
}

/** How far a step puts the clock of a device forward, in ms. */
interface ClockStep {
  readonly device: Device;
  readonly ms: number;
}

/** A request that must not come, or must not come `times` times: the last of these is one too many. */
export interface Forbidden {
  readonly matcher: Matcher;
  readonly times: number;
}

export type Goal =
  | {
      readonly kind: 'wait';
      readonly ms: number;
      /** The number of requests after which the step is over; absent when it waits for the time. */
      readonly requests?: number;
    }
  | { readonly kind: 'order'; readonly items: readonly Expected[]; readonly within: number }
  | ({ readonly kind: 'rhythm'; readonly within: number } & Rhythm);

export interface Expected {
  readonly matcher: Matcher;
  /**
   * True when the request has to equal the spoilt one, or the one before it in the list. In a step with a
   * fault it has to be a retry and not the next poll.
   */
  readonly same: boolean;
  readonly min: number;
  /** The most times that the request may come; infinite without a limit. */
  readonly max: number;
  /**
   * The shortest time after what came before: the spoilt request, the entry before, or the beginning of the
   * step.
   */
  readonly after: number;
  /** The longest time of a retry after what came before; infinite without a bound. */
  readonly within: number;
}

/** Requests that have to come at regular times. */
export interface Rhythm {
  readonly matcher: Matcher;
  readonly every: number;
  readonly tolerance: number;
  readonly for: number;
}
