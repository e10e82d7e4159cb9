import type { Check } from './check.js';
import { wrongCrc } from './checks/damaged/wrong-crc.js';
import { exception2 } from './checks/exceptions/exception-2.js';
import { timeOut } from './checks/time/time-out.js';
import { pollPeriod } from './checks/watching/poll-period.js';

/** All checks, in the order in which they are shown. */
export const CHECKS: readonly Check[] = [
  // watching
  pollPeriod,
  // time
  timeOut,
  // damaged
  wrongCrc,
  // exceptions
  exception2,
  // connections
];
