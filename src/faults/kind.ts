import type { z } from 'zod';
import type { Framing } from '../protocol/framing.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';
import type { Random } from '../random.js';
import type { Ability } from './ability.js';
import type { Budget } from './budget.js';

/** What a fault knows about the reply it changes. */
export interface FaultContext {
  readonly unitId: number;
  readonly transactionId: number;
  readonly requestPdu: Uint8Array;
  readonly framing: Framing;
  readonly random: Random;
  /** The budget of the faults on this reply. The helpers of `plan.ts` and `random.ts` spend from it. */
  readonly budget: Budget;
  /** Time of a character on the line, in ms; 0 when the line has no character time. */
  readonly characterTime: number;
  /** The reply to this client's previous request, as sent or as it should have been sent. */
  readonly previousReply: Uint8Array | undefined;
}

/** The changed plan, or the reason why the fault could not act. */
export type Applied = ReplyPlan | string;

/**
 * One kind of fault. Each kind has its own file in `kinds/` and a line in `kinds.ts`. `apply` is pure: it maps a plan
 * to a plan and takes all randomness from the context.
 */
export interface FaultKind<Parameters> {
  /** What happens on the wire, in a sentence or two. The console and the document of the REST interface show it. */
  readonly does: string;
  /** The schema of the parameters in files and requests. Any value that it accepts must be safe to apply. */
  readonly schema: z.ZodType<Parameters>;
  /** What the line must be able to do. */
  readonly needs?: Ability;
  /** True when the fault keeps the request from the device, so that nothing is executed. */
  readonly prevents?: boolean;
  readonly apply: (plan: ReplyPlan, parameters: Parameters, context: FaultContext) => Applied;
}
