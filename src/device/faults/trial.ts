import type { Random } from '../../common/random.js';
import { AsciiFraming } from '../../modbus/protocol/ascii.js';
import { type Framing, RTU, SOCKET } from '../../modbus/protocol/framing.js';
import { FunctionCode } from '../../modbus/protocol/function-code.js';
import { MAX_PDU_LENGTH } from '../../modbus/protocol/limits.js';
import { plainReply } from '../../modbus/protocol/reply-plan.js';
import { abilities, type FaultLine, type Medium } from './ability.js';
import { Budget, type Excess } from './budget.js';
import { act, type Fault } from './kind.js';

/**
 * Tries the faults of a rule on the longest possible replies, one or more for each framing. Returns the first
 * limit that a fault exceeds, or undefined when all faults can act. These lines have no connection to close,
 * because a reply that is cut short is more easily within the limits.
 *
 * A fault may do more at run time than here: `change` with a probability acts on none of these replies. At
 * run time the budget of each reply applies.
 */
export function excessOf(faults: readonly Fault[]): Excess | undefined {
  const usesPrevious = faults.some(({ kind }) => kind === 'stale');
  for (const reply of REPLIES) {
    // Only `stale` becomes longer with a previous reply, so for all other faults these two cases are the
    // same.
    if (reply.previousReply === undefined && !usesPrevious) continue;
    const excess = excessOn(reply, faults);
    if (excess) return excess;
  }
  return undefined;
}

interface TrialReply {
  readonly framing: Framing;
  readonly line: FaultLine;
  readonly adu: Uint8Array;
  /**
   * The reply that `stale` sends. When undefined, the reply stays as the faults before `stale` have made it.
   */
  readonly previousReply: Uint8Array | undefined;
}

const IDS = { unitId: 1, transactionId: 1 };

/** A PDU that can stand for a request and for its response. All bytes after the byte count are data. */
const PDU = Uint8Array.from({ length: MAX_PDU_LENGTH }, (_, i) =>
  i === 0 ? FunctionCode.readHoldingRegisters : 0,
);

const REPLIES: readonly TrialReply[] = [
  ...repliesIn(new AsciiFraming(), 'serial'),
  ...repliesIn(RTU, 'serial'),
  ...repliesIn(SOCKET, 'udp'),
];

function repliesIn(framing: Framing, medium: Medium): TrialReply[] {
  const line = { name: framing.name, abilities: abilities(medium, framing.name) };
  const adu = framing.encode({ ...IDS, pdu: PDU });
  return [adu, undefined].map((previousReply) => ({ framing, line, adu, previousReply }));
}

/** The duration of a character of 12 bits at 50 baud, the slowest possible line, in ms. */
const SLOWEST_CHARACTER_MS = 240;

/**
 * A clock that stands still, so that whether a rule is accepted does not depend on the time that trying it
 * takes.
 */
const NEVER_LATE = () => () => 0;

/** Always draws the greatest number, so a delay with jitter is as long as it can be. */
const GREATEST: Random = {
  next: () => 1 - Number.EPSILON / 2,
  below: (limit) => limit - 1,
};

function excessOn({ adu, line, ...reply }: TrialReply, faults: readonly Fault[]): Excess | undefined {
  const context = {
    ...IDS,
    ...reply,
    requestPdu: PDU,
    random: GREATEST,
    characterTime: SLOWEST_CHARACTER_MS,
    budget: new Budget(NEVER_LATE),
  };
  let plan = plainReply(adu);
  for (const fault of faults) {
    const result = act(fault, plan, line, context);
    if (typeof result === 'string') continue;
    if (result.kind === 'excess') return result;
    plan = result;
  }
  return undefined;
}
