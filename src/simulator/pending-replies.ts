import { type PlayReport, type ReplyPlan, silence } from '../modbus/protocol/reply-plan.js';
import type { LineReply } from '../modbus/transport/transport.js';
import type { Answer, LaterAnswer } from './bus/answer.js';
import type { TracedRequest } from './line-traffic.js';

/** Called when the plan of a reply has ended. */
export type Replied = (asked: TracedRequest, answer: Answer, report: PlayReport) => void;

/** A request, until the plan of its answer has been played. */
class PendingReply implements LineReply {
  older: PendingReply | undefined;
  newer: PendingReply | undefined;
  readonly asked: TracedRequest;
  readonly answer: Answer | LaterAnswer;
  readonly #replies: PendingReplies;

  constructor(replies: PendingReplies, asked: TracedRequest, answer: Answer | LaterAnswer) {
    this.#replies = replies;
    this.asked = asked;
    this.answer = answer;
  }

  get plan(): ReplyPlan | undefined {
    const { answer } = this;
    return 'plan' in answer ? answer.plan : answer.known?.plan;
  }

  whenPlanned(callback: () => void): void {
    if ('whenKnown' in this.answer) this.answer.whenKnown(callback);
  }

  played(report: PlayReport): void {
    this.#replies.ended(this, report);
  }
}

/**
 * The replies of a line whose plans are being played. It is a linked list and not a `Set`: each request would
 * leave a hole in the table of a set, which V8 then rebuilds again and again, in memory that every scavenge
 * of the garbage collector looks through.
 */
export class PendingReplies {
  readonly #replied: Replied;
  #oldest: PendingReply | undefined;
  #newest: PendingReply | undefined;

  constructor(replied: Replied) {
    this.#replied = replied;
  }

  /** The oldest pending reply, if there is one. */
  get oldest(): LineReply | undefined {
    return this.#oldest;
  }

  /** Adds the newest reply, which is removed when it has been played. */
  add(asked: TracedRequest, answer: Answer | LaterAnswer): LineReply {
    const reply = new PendingReply(this, asked, answer);
    reply.older = this.#newest;
    if (this.#newest) this.#newest.newer = reply;
    else this.#oldest = reply;
    this.#newest = reply;
    return reply;
  }

  /** Removes a reply whose plan has ended. The transport reports that once. */
  ended(reply: PendingReply, report: PlayReport): void {
    const { older, newer, asked, answer } = reply;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    reply.older = undefined;
    reply.newer = undefined;
    this.#replied(asked, 'plan' in answer ? answer : known(answer), report);
  }
}

/** The answer of a later answer whose reply has ended. If it is not known yet, it is given up. */
function known(answer: LaterAnswer): Answer {
  if (answer.known) return answer.known;
  answer.giveUp();
  const plan = silence('the real device had not answered yet');
  return { plan, acted: [], framing: answer.framing, next: undefined };
}
