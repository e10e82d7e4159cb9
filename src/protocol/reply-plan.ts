/**
 * What a line is to do about a request, as data: decided by the bus and the fault rules, carried out by a transport.
 *
 * Times are relative, in ms: a step waits `waitMs` after the step before it has ended, that is, after its last
 * character has left. Before the first step the transport waits its turnaround, counted from the end of the request,
 * unless the plan is `early`.
 */
export type ReplyPlan =
  | { readonly kind: 'silence'; readonly reason: string }
  | {
      readonly kind: 'send';
      readonly early: boolean;
      /** The bytes wait for those of the next reply of the connection, and leave together with them (TCP, TLS). */
      readonly coalesce?: true;
      readonly steps: readonly Step[];
    };

export type Step = SendStep | BreakStep | CloseStep;

/** Bytes that leave in one piece. `continues` marks a piece that belongs to the frame of the piece before it. */
export interface SendStep {
  readonly kind: 'bytes';
  readonly waitMs: number;
  readonly bytes: Uint8Array;
  readonly continues: boolean;
}

/** The line is held in the break state for `ms` (serial lines). */
export interface BreakStep {
  readonly kind: 'break';
  readonly waitMs: number;
  readonly ms: number;
}

/** The connection is closed (sockets): `end` in an orderly way, `reset` with a reset. Nothing follows. */
interface CloseStep {
  readonly kind: 'close';
  readonly waitMs: number;
  readonly how: 'end' | 'reset';
}

/** The plan of a well-behaved device: the whole response in one piece, at its time, or so much later. */
export function plainReply(bytes: Uint8Array, waitMs = 0): ReplyPlan {
  return { kind: 'send', early: false, steps: [{ kind: 'bytes', waitMs, bytes, continues: false }] };
}

export function silence(reason: string): ReplyPlan {
  return { kind: 'silence', reason };
}
