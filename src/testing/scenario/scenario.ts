import type { Device } from '../../device/device.js';
import type { FaultRule } from '../../device/faults/rule.js';
import type { Value } from '../../device/registers/value.js';
import type { Interruption } from '../../device/supply.js';
import type { DeviceValue } from '../../simulator/commands/device-value.js';
import type { DutDefinition } from './dut-definition.js';
import type { Matcher } from './matcher.js';

/** A checked scenario. All times are in ms. */
export interface Scenario {
  readonly name: string;
  /** Decides the random parts of faults that have no seed of their own. */
  readonly seed: number;
  /** The lines that the scenario watches. */
  readonly lines: readonly string[];
  /** The program under test; absent when it runs already. */
  readonly dut?: DutDefinition;
  /** The file for the traffic of the whole test, as it was written. */
  readonly capture?: string;
  /** What must not come at any time. */
  readonly always: readonly Matcher[];
  readonly steps: readonly ScenarioStep[];
}

/** One step: first its actions, then what is watched until the step ends. */
export interface ScenarioStep {
  readonly name: string;
  /** In force until the step ends. */
  readonly faults: readonly FaultRule[];
  readonly changes: readonly ValueChange[];
  readonly power: readonly PowerChange[];
  readonly goal: Goal;
  /** What must not come during the step. */
  readonly never: readonly Matcher[];
  /** The file for the traffic of the step, as it was written. */
  readonly capture?: string;
}

/** A value to be written as REST would write it. */
export interface ValueChange {
  readonly target: DeviceValue;
  readonly value: Value;
}

export interface PowerChange {
  readonly device: Device;
  /** `on` gives the supply back. */
  readonly change: 'on' | Interruption;
}

/** What ends a step. */
export type Goal =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'order'; readonly items: readonly Expected[]; readonly within: number }
  | ({ readonly kind: 'rhythm'; readonly within: number } & Rhythm);

/** One entry of `expect`. */
export interface Expected {
  readonly matcher: Matcher;
  /**
   * The request has to be the same as the one that the fault acted on, or as the one that came before in the list. In a
   * step with a fault it has to be a retry: the next poll is none.
   */
  readonly same: boolean;
  readonly min: number;
  /** Infinite without a limit. */
  readonly max: number;
  /** No sooner than this after what came before: the spoilt request, the entry before, or the beginning of the step. */
  readonly after: number;
  /** Of a retry: no later than this after what came before. Infinite without a bound. */
  readonly within: number;
}

/** Requests that have to come at regular times. */
export interface Rhythm {
  readonly matcher: Matcher;
  readonly every: number;
  readonly tolerance: number;
  readonly for: number;
}
