import type { z } from 'zod';
import type { Framing } from '../protocol/framing.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';
import type { Ability } from './ability.js';
import type { Budget } from './budget.js';
import type { Random } from './random.js';

/** What a fault knows about the reply it changes. */
export interface FaultContext {
  readonly unitId: number;
  readonly transactionId: number;
  readonly requestPdu: Uint8Array;
  readonly framing: Framing;
  readonly random: Random;
  /** What the faults on this reply may spend: the helpers of `plan.ts` and `random.ts` do. */
  readonly budget: Budget;
  /** Time of a character on the line, in ms; 0 where there is none. */
  readonly characterTime: number;
  /** The reply that this client got (or should have got) to its request before. */
  readonly previousReply: Uint8Array | undefined;
}

/** A plan, or why the fault could not act on it. */
export type Applied = ReplyPlan | string;

/**
 * One kind of fault. A kind is a file of its own in `kinds/` and a line in `kinds.ts`.
 * `apply` is pure: from a plan to a plan, all randomness from the context.
 */
export interface FaultKind<Parameters> {
  /** The parameters as in files and requests; what it accepts must be safe to apply. */
  readonly schema: z.ZodType<Parameters>;
  /** What the line must be able to do. */
  readonly needs?: Ability;
  /** The request does not reach the device: nothing is executed. */
  readonly prevents?: boolean;
  readonly apply: (plan: ReplyPlan, parameters: Parameters, context: FaultContext) => Applied;
}
