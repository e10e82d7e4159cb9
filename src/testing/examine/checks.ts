import type { Check } from './check.js';
import { closedAfterReply } from './checks/connections/closed-after-reply.js';
import { halfOpen } from './checks/connections/half-open.js';
import { listenerGone } from './checks/connections/listener-gone.js';
import { resetInReply } from './checks/connections/reset-in-reply.js';
import { duplicate } from './checks/damaged/duplicate-reply.js';
import { extended } from './checks/damaged/extended-reply.js';
import { fewerRegisters } from './checks/damaged/fewer-registers.js';
import { junk } from './checks/damaged/junk.js';
import { lateReply } from './checks/damaged/late-reply.js';
import { noiseBefore } from './checks/damaged/noise-before.js';
import { split } from './checks/damaged/split-reply.js';
import { truncated } from './checks/damaged/truncated-reply.js';
import { wrongByteCount } from './checks/damaged/wrong-byte-count.js';
import { wrongCrc } from './checks/damaged/wrong-crc.js';
import { wrongFunction } from './checks/damaged/wrong-function.js';
import { wrongTransaction } from './checks/damaged/wrong-transaction.js';
import { wrongUnit } from './checks/damaged/wrong-unit.js';
import { exception1 } from './checks/exceptions/exception-1.js';
import { exception2 } from './checks/exceptions/exception-2.js';
import { exception3 } from './checks/exceptions/exception-3.js';
import { exception4 } from './checks/exceptions/exception-4.js';
import { exception5 } from './checks/exceptions/exception-5.js';
import { exception6 } from './checks/exceptions/exception-6.js';
import { exception10 } from './checks/exceptions/exception-10.js';
import { exception11 } from './checks/exceptions/exception-11.js';
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
  truncated,
  extended,
  noiseBefore,
  junk,
  wrongUnit,
  wrongFunction,
  wrongByteCount,
  fewerRegisters,
  duplicate,
  split,
  wrongTransaction,
  lateReply,
  // exceptions
  exception1,
  exception2,
  exception3,
  exception4,
  exception5,
  exception6,
  exception10,
  exception11,
  // connections
  closedAfterReply,
  resetInReply,
  listenerGone,
  halfOpen,
];
