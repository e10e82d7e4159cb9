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

/** The longest frame of any line (RTU over TCP and ASCII carry fewer bytes of PDU and more of frame). */
export const LONGEST_FRAME = 520;

/** The most that a plan can come to. */
export interface Extent {
  readonly frames: number;
  /** Of all frames. */
  readonly bytes: number;
  /** Time before the first frame, in ms: copies of the frame don't repeat it. */
  readonly lead: number;
  /** Waits after that, in ms. */
  readonly ms: number;
}

/** A plain reply. */
export const PLAIN_EXTENT: Extent = { frames: 1, bytes: LONGEST_FRAME, lead: 0, ms: 0 };

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
