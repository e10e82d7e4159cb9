import type { Check } from './check.js';
import { closedAfterReply } from './checks/connections/closed-after-reply.js';
import { halfOpen } from './checks/connections/half-open.js';
import { listenerGone } from './checks/connections/listener-gone.js';
import { resetInReply } from './checks/connections/reset-in-reply.js';
import { wrongCrc } from './checks/damaged/wrong-crc.js';
import { exception2 } from './checks/exceptions/exception-2.js';
import { attempts } from './checks/time/attempts.js';
import { deadUnit } from './checks/time/dead-unit.js';
import { outage5, outage60 } from './checks/time/outage.js';
import { pauses } from './checks/time/pauses.js';
import { timeOut } from './checks/time/time-out.js';
import { timeOutMargins } from './checks/time/time-out-margins.js';
import { trickleGaps, trickleSlow } from './checks/time/trickle.js';
import { broadcastPause } from './checks/watching/broadcast-pause.js';
import { connectionsReused } from './checks/watching/connections-reused.js';
import { legalRequests } from './checks/watching/legal-requests.js';
import { oneAtATime } from './checks/watching/one-at-a-time.js';
import { pollPeriod } from './checks/watching/poll-period.js';
import { silenceBeforeRequests } from './checks/watching/silence-before-requests.js';

/** All checks, in the order in which they are shown. */
export const CHECKS: readonly Check[] = [
  // watching
  pollPeriod,
  legalRequests,
  silenceBeforeRequests,
  oneAtATime,
  broadcastPause,
  connectionsReused,
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
  closedAfterReply,
  resetInReply,
  listenerGone,
  halfOpen,
];
