import type { Check } from './check.js';
import { wrongCrc } from './checks/damaged/wrong-crc.js';
import { exception2 } from './checks/exceptions/exception-2.js';
import { attempts } from './checks/time/attempts.js';
import { deadUnit } from './checks/time/dead-unit.js';
import { outage5, outage60 } from './checks/time/outage.js';
import { pauses } from './checks/time/pauses.js';
import { timeOut } from './checks/time/time-out.js';
import { timeOutMargins } from './checks/time/time-out-margins.js';
import { trickleGaps, trickleSlow } from './checks/time/trickle.js';
import { pollPeriod } from './checks/watching/poll-period.js';

/** All checks, in the order in which they are shown. */
export const CHECKS: readonly Check[] = [
  // watching
  pollPeriod,
  // time
  timeOut,
  timeOutMargins,
  outage5,
  outage60,
  attempts,
  pauses,
  deadUnit,
  trickleSlow,
  trickleGaps,
  // damaged
  wrongCrc,
  // exceptions
  exception2,
  // connections
];
