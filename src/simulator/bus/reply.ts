import type { ActedFault } from '../../device/faults/apply.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import type { RefusedRange } from '../../modbus/protocol/pdu.js';
import {
  type PlayReport,
  prepend,
  type ReplyPlan,
  type SendStep,
  silence,
} from '../../modbus/protocol/reply-plan.js';
import type { LineReply, LineRequest } from '../../modbus/transport/transport.js';

export const NO_FAULTS: readonly ActedFault[] = [];
const NOTHING: readonly SendStep[] = [];
const NOT_ANSWERED = silence('the real device had not answered yet');

/** A request in the traffic. */
export interface TracedRequest {
  readonly request: LineRequest;
  readonly framing: Framing;
  /** The sequence number of its event; 0 before there is one. */
  seq: number;
}

/**
 * The reply to a request, from the bus to the traffic: the bus makes it, a transport plays its plan, and its
 * line reports it. The plan of a real device comes later, or never when the reply has ended before.
 */
export class Reply implements LineReply {
  readonly framing: Framing;
  /** The plan, with all that is sent before the reply; undefined while a real device has not answered. */
  plan: ReplyPlan | undefined;
  /** The faults that shaped the plan. */
  acted: readonly ActedFault[];
  /** The framing after this reply. Set only when the request changed the delimiter of an ASCII line. */
  readonly next: Framing | undefined;
  /** The addresses that are the reason of exception 02; undefined for other answers and other reasons. */
  readonly refused: RefusedRange | undefined;
  /** The request; known while the reply is pending. */
  asked: TracedRequest | undefined;
  older: Reply | undefined;
  newer: Reply | undefined;
  list: PendingReplies | undefined;
  /** The plan of the reply alone, when something is sent before it. */
  #alone: ReplyPlan | undefined;
  #before = NOTHING;
  #pause = 0;
  #whenPlanned: (() => void) | undefined;
  #giveUp: (() => void) | undefined;

  constructor(framing: Framing, plan?: ReplyPlan, acted = NO_FAULTS, next?: Framing, refused?: RefusedRange) {
    this.framing = framing;
    this.plan = plan;
    this.acted = acted;
    this.next = next;
    this.refused = refused;
  }

  /** The plan of the reply without what is sent before it. */
  get alone(): ReplyPlan {
    return this.#alone ?? this.plan ?? NOT_ANSWERED;
  }

  /** What is sent before the reply; empty for a silence. */
  get before(): readonly SendStep[] {
    return this.#alone ? this.#before : NOTHING;
  }

  /** Sends `steps`, and `pauseMs` of silence, before the reply, if there is one. */
  prepend(steps: readonly SendStep[], pauseMs: number): void {
    this.#before = steps;
    this.#pause = pauseMs;
    if (this.plan) this.become(this.plan, this.acted);
  }

  /** Takes over the plan of a real device that has answered, and the faults that shaped this plan. */
  become(plan: ReplyPlan, acted: readonly ActedFault[]): void {
    this.acted = acted;
    this.plan = plan;
    if (this.#before.length > 0 && plan.kind === 'send') {
      this.#alone = plan;
      this.plan = prepend(plan, this.#before, this.#pause);
    }
    this.#whenPlanned?.();
  }

  whenPlanned(callback: () => void): void {
    this.#whenPlanned = callback;
  }

  /** Sets the function that calls off the request to the real device. */
  onGivenUp(giveUp: () => void): void {
    this.#giveUp = giveUp;
  }

  played(report: PlayReport): void {
    if (!this.plan) this.#giveUp?.();
    this.list?.ended(this, report);
  }
}

/** Called when the plan of a reply has ended. */
type Replied = (asked: TracedRequest, reply: Reply, report: PlayReport) => void;

/**
 * The replies of a line whose plans are being played. It is a linked list and not a `Set`: each request would
 * leave a hole in the table of a set, which V8 then rebuilds again and again, in memory that every scavenge
 * of the garbage collector looks through.
 */
export class PendingReplies {
  readonly #ended: Replied;
  #oldest: Reply | undefined;
  #newest: Reply | undefined;

  /** Makes an empty list. @param ended called when the plan of a reply has ended */
  constructor(ended: Replied) {
    this.#ended = ended;
  }

  /** The oldest pending reply, if there is one. */
  get oldest(): Reply | undefined {
    return this.#oldest;
  }

  /** Adds the newest reply, which is removed when it has been played. */
  add(asked: TracedRequest, reply: Reply): void {
    reply.asked = asked;
    reply.list = this;
    reply.older = this.#newest;
    if (this.#newest) this.#newest.newer = reply;
    else this.#oldest = reply;
    this.#newest = reply;
  }

  /** Removes a reply whose plan has ended. The transport reports that once. */
  ended(reply: Reply, report: PlayReport): void {
    const { older, newer } = reply;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    reply.older = undefined;
    reply.newer = undefined;
    if (reply.asked) this.#ended(reply.asked, reply, report);
  }
}
