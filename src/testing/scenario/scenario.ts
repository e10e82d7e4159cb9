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
  /** The seed for random faults that have no seed of their own. */
  readonly seed: number;
  readonly lines: readonly string[];
  /** The program under test; absent if it is already running. */
  readonly dut?: DutDefinition;
  /** The file for the traffic of the whole test, as written in the scenario. */
  readonly capture?: string;
  /** Requests and replies that must never come. */
  readonly always: readonly Forbidden[];
  readonly steps: readonly ScenarioStep[];
}

/** One step: its actions, and then what it watches for until it ends. */
export interface ScenarioStep {
  readonly name: string;
  /** Fault rules that are in force until the step ends. */
  readonly faults: readonly FaultRule[];
  readonly changes: readonly ValueChange[];
  /** Additional manners of devices until the step ends. */
  readonly manners: readonly MannersChange[];
  /** Lines that are closed with all their connections until the step ends. */
  readonly closed: readonly Line[];
  readonly power: readonly PowerChange[];
  readonly clocks: readonly ClockStep[];
  /** Bytes that lines send once, when the step begins. */
  readonly unsolicited: readonly UnsolicitedBytes[];
  /** What to do with the program under test before the step watches; absent: nothing. */
  readonly dut?: 'stop' | 'start' | 'restart' | undefined;
  readonly goal: Goal;
  /** Requests and replies that must not come during the step. */
  readonly never: readonly Forbidden[];
  /** The file for the traffic of the step, as written in the scenario. */
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
  /** `on` restores the power of the device. */
  readonly change: 'on' | Interruption;
}

/** How far a step advances the clock of a device, in ms. */
interface ClockStep {
  readonly device: Device;
  readonly ms: number;
}

/** A request that must not come, or must come fewer than `times` times. */
export interface Forbidden {
  readonly matcher: Matcher;
  readonly times: number;
}

export type Goal =
  | {
      readonly kind: 'wait';
      readonly ms: number;
      /** The number of requests after which the step ends; absent if only time ends it. */
      readonly requests?: number;
    }
  | { readonly kind: 'order'; readonly items: readonly Expected[]; readonly within: number }
  | ({ readonly kind: 'rhythm'; readonly within: number } & Rhythm);

export interface Expected {
  readonly matcher: Matcher;
  /**
   * True if the request must equal the altered one, or the one before it in the list. In a step with a fault
   * it must be a retry rather than the next poll.
   */
  readonly same: boolean;
  readonly min: number;
  /** The maximum number of times that the request may come; infinite without a limit. */
  readonly max: number;
  /**
   * The shortest time after the previous event: the altered request, the previous entry, or the beginning of
   * the step.
   */
  readonly after: number;
  /** The longest time from the previous event to a retry; infinite without a bound. */
  readonly within: number;
}

/** Requests that must come at regular times. */
export interface Rhythm {
  readonly matcher: Matcher;
  readonly every: number;
  readonly tolerance: number;
  readonly for: number;
}
