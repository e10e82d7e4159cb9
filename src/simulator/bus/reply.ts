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
  /** The sequence number of its event; 0 until it has one. */
  seq: number;
}

/**
 * The reply to a request, on its way from the bus to the traffic: the bus makes it, a transport plays its
 * plan, and its line reports it. The plan of a real device arrives later, or never if the reply has already
 * ended.
 */
export class Reply implements LineReply {
  readonly framing: Framing;
  /** The plan, with everything that is sent before the reply; undefined until a real device has answered. */
  plan: ReplyPlan | undefined;
  /** The faults that shaped the plan. */
  acted: readonly ActedFault[];
  /** The framing after this reply. Set only if the request changed the delimiter of an ASCII line. */
  readonly next: Framing | undefined;
  /** The addresses that caused exception 02; undefined for other answers and other causes. */
  readonly refused: RefusedRange | undefined;
  /** The request; known while the reply is pending. */
  asked: TracedRequest | undefined;
  older: Reply | undefined;
  newer: Reply | undefined;
  list: PendingReplies | undefined;
  /** The plan without the steps before the reply, if there are any. */
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

  /** The plan of the reply, without the steps before it. */
  get alone(): ReplyPlan {
    return this.#alone ?? this.plan ?? NOT_ANSWERED;
  }

  /** The steps sent before the reply; empty if nothing is sent. */
  get before(): readonly SendStep[] {
    return this.#alone ? this.#before : NOTHING;
  }

  /** Sends `steps`, then `pauseMs` of silence, before the reply. Does nothing if there is no reply. */
  prepend(steps: readonly SendStep[], pauseMs: number): void {
    this.#before = steps;
    this.#pause = pauseMs;
    if (this.plan) this.become(this.plan, this.acted);
  }

  /** Adopts the plan of a real device that has answered, and the faults that shaped it. */
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

  /** Sets the function that cancels the request to the real device. */
  onGivenUp(giveUp: () => void): void {
    this.#giveUp = giveUp;
  }

  played(report: PlayReport): void {
    if (!this.plan) this.#giveUp?.();
    this.list?.ended(this, report);
  }
}

/** Called at the end of a reply's plan. */
type Replied = (asked: TracedRequest, reply: Reply, report: PlayReport) => void;

/**
 * The replies of a line whose plans are still playing. This is a linked list and not a `Set`: every request
 * would leave a hole in a set's table. V8 rebuilds such a table again and again, in memory that every
 * scavenge of the garbage collector scans.
 */
export class PendingReplies {
  readonly #ended: Replied;
  #oldest: Reply | undefined;
  #newest: Reply | undefined;

  /** Makes an empty list. @param ended called at the end of a reply's plan */
  constructor(ended: Replied) {
    this.#ended = ended;
  }

  get oldest(): Reply | undefined {
    return this.#oldest;
  }

  /** Adds the newest reply. It is removed once it has been played. */
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
