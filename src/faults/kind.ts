import type { z } from 'zod';
import type { Framing } from '../protocol/framing.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';
import type { Ability } from './ability.js';
import type { Random } from './random.js';

/** What a fault knows about the reply it changes. */
export interface FaultContext {
  readonly unitId: number;
  readonly transactionId: number;
  readonly requestPdu: Uint8Array;
  readonly framing: Framing;
  readonly random: Random;
  /** Time of a character on the line, in ms; 0 where there is none. */
  readonly characterTime: number;
  /** The reply that this client got (or should have got) to its request before. */
  readonly previousReply: Uint8Array | undefined;
}

/** The most that a plan can come to: frames, bytes of all of them, and ms of waiting. */
export interface Extent {
  readonly frames: number;
  readonly bytes: number;
  readonly ms: number;
}

/** The longest frame of any line (RTU over TCP and ASCII carry fewer bytes of PDU and more of frame). */
export const LONGEST_FRAME = 520;

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
  /** How far the fault stretches a plan; nothing when absent. */
  readonly extent?: (before: Extent, parameters: Parameters) => Extent;
  readonly apply: (plan: ReplyPlan, parameters: Parameters, context: FaultContext) => Applied;
}
