import type { ActedFault } from '../../device/faults/apply.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import type { RefusedRange } from '../../modbus/protocol/pdu.js';
import type { ReplyPlan } from '../../modbus/protocol/reply-plan.js';

/** The reply plan for a request, and the faults that shaped the plan. */
export interface Answer {
  readonly plan: ReplyPlan;
  readonly acted: readonly ActedFault[];
  /** The framing of the reply. */
  readonly framing: Framing;
  /** The framing after this reply. Set only when the request changed the delimiter of an ASCII line. */
  readonly next: Framing | undefined;
  /** The addresses that are the reason of exception 02; absent for other answers and other reasons. */
  readonly refused?: RefusedRange;
}

/** The answer of a real device, which comes later, or never when it was given up. */
export class LaterAnswer {
  /** The framing of the reply. */
  readonly framing: Framing;
  #known: Answer | undefined;
  #callback = (): void => {};
  #giveUp = (): void => {};

  constructor(framing: Framing) {
    this.framing = framing;
  }

  get known(): Answer | undefined {
    return this.#known;
  }

  /** Calls back once when the answer is known. */
  whenKnown(callback: () => void): void {
    this.#callback = callback;
  }

  become(answer: Answer): void {
    this.#known = answer;
    this.#callback();
  }

  /** Sets the function that gives the answer up. */
  onGivenUp(giveUp: () => void): this {
    this.#giveUp = giveUp;
    return this;
  }

  giveUp(): void {
    this.#giveUp();
  }
}
