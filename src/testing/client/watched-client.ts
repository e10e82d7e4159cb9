import type { FaultRules } from '../../device/faults/rules.js';
import { type Clock, systemClock } from '../../modbus/transport/clock.js';
import type { Line } from '../../simulator/line.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import { Lateness } from '../lateness.js';
import type { Finding, RunAbout } from '../report/report.js';
import { durationText } from '../report/words.js';
import { closedText, lastReplies, Outage, type PolledLine, polledLine } from '../tested-line.js';
import type { Poll } from './heard/exchange.js';
import type { ClientFacts } from './heard/found.js';
import { ExchangeLog, Waits } from './heard/log.js';
import type { Observer } from './observer.js';
import { OwnRules } from './trial/rules.js';
import { ValueOracle } from './trial/values.js';

/** The client that a client test or a fuzz run is about, and its time limit. */
export interface ClientOrder {
  readonly line: Line;
  /** The unit whose requests are disturbed; undefined: any unit. */
  readonly unitId: number | undefined;
  readonly limitMs: number;
  /** The same seed leads to the same trials, in the same order. */
  readonly seed: number;
  /** The tester's notes about the client, if any. */
  readonly about?: RunAbout | undefined;
  /** Shows the values that the client has read; undefined if nothing does. */
  readonly observer?: Observer | undefined;
  /**
   * Restarts the client, even if it is running; undefined if there is no way to start it.
   * @returns why that was not possible; undefined on success
   */
  readonly restart?: (() => Promise<string | undefined>) | undefined;
}

/** Callbacks for a follower of a run. */
export interface Audience {
  /**
   * Called when a check has ended, or when more is known about a failure.
   * @param number counts the findings from 1
   */
  readonly found?: (finding: Finding, number: number) => void;
  /** Called with a sentence that says what the run is waiting for, or how far it has got. */
  readonly note?: (text: string) => void;
}

/** Why a run ended before its work was done. */
export interface End {
  readonly text: string;
  /** `client`: nothing more can be tried on the client. `bench`: the line could not be used. */
  readonly by: 'stop' | 'limit' | 'client' | 'bench';
}

interface Around {
  readonly audience?: Audience | undefined;
  readonly clock?: Clock | undefined;
  /** True while the run itself has closed the line. */
  readonly keepsClosed?: () => boolean;
}

/**
 * The client on a line during a run: its traffic and the findings about it, the changes that the run makes to
 * its line, and the course of the run from start to end.
 */
export class WatchedClient {
  readonly order: ClientOrder;
  readonly clock: Clock;
  readonly line: PolledLine;
  readonly log: ExchangeLog;
  readonly rules: OwnRules;
  readonly outage: Outage;
  readonly lateness: Lateness;
  /** Determines which values the client has read; undefined without an observer. */
  readonly values: ValueOracle | undefined;
  readonly startedAt = Date.now();
  readonly #audience: Audience;
  readonly #waits: Waits;
  readonly #begun: number;
  readonly #unsubscribe: () => void;
  readonly #ended: Promise<End>;
  #end: (end: End) => void = () => {};
  #whyEnded: End | undefined;
  #crashed: Promise<string> = new Promise(() => {});
  #crash: (how: string) => void = () => {};
  #endedAt: number | undefined;
  #isStopped = false;
  readonly #rulesOfBench: FaultRules;
  /** The fault rules that were suspended during the run. */
  #suspended: readonly string[] = [];
  #refusal: string | undefined;
  #target: Poll | undefined;
  #polls: readonly Poll[] = [];
  #facts: ClientFacts = {};
  #isDisturbed = false;
  #disturbedUntil = 0;
  #isWithoutRhythm = false;
  /** True if the client accepted no replies within the recovery time, and nothing has been done about it since. */
  isLost = false;

  constructor(bench: Simulator, order: ClientOrder, { audience = {}, clock, keepsClosed }: Around = {}) {
    this.order = order;
    this.clock = clock ?? systemClock;
    this.line = polledLine(order.line);
    this.#rulesOfBench = bench.faults.rules;
    this.rules = new OwnRules(this.#rulesOfBench);
    this.log = new ExchangeLog(() => this.rules.acted());
    this.outage = new Outage(order.line, bench, (text) => this.end({ by: 'bench', text }));
    this.lateness = new Lateness(this.clock);
    this.values = order.observer && new ValueOracle(order.observer);
    this.#audience = audience;
    this.#waits = new Waits(this.clock, this.log);
    this.#begun = this.clock.now();
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#awaitCrash();
    const hear = (event: TrafficEvent) => {
      if (event.line !== order.line.name) return;
      this.log.add(event);
      const text = closedText(event);
      if (text !== undefined && !this.outage.isOn && !keepsClosed?.()) this.end({ by: 'bench', text });
    };
    this.#unsubscribe = bench.traffic.subscribe(hear);
  }

  get isOver(): boolean {
    return this.#endedAt !== undefined;
  }

  /** The part that all reports on a run have. `refusal` is why it could not begin, as a sentence. */
  get course() {
    return {
      startedAt: this.startedAt,
      durationMs: (this.#endedAt ?? this.clock.now()) - this.#begun,
      isOver: this.isOver,
      isStopped: this.#isStopped,
      refusal: this.#refusal,
      whyEnded: this.#whyEnded?.text,
      suspended: this.#suspended.length > 0 ? suspendedText(this.#suspended) : undefined,
    };
  }

  /** The poll to disturb; undefined until the client has been watched. */
  get target(): Poll | undefined {
    return this.#target;
  }

  /** All polls of the client, as seen while watching. */
  get polls(): readonly Poll[] {
    return this.#polls;
  }

  get facts(): ClientFacts {
    return this.#facts;
  }

  /** Stores the findings of a check, for later checks and the report. */
  learn(facts: ClientFacts): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** Informs followers of the run what it is waiting for. */
  note(text: string): void {
    this.#audience.note?.(text);
  }

  /** Informs followers of the run about a finding. @param number counts the findings from 1 */
  found(finding: Finding, number: number): void {
    this.#audience.found?.(finding, number);
  }

  /** True from a disturbance until the client has been seen polling as usual. */
  get isDisturbed(): boolean {
    return this.#isDisturbed;
  }

  /** Sequence number of the last event that was disturbed. */
  get disturbedUntil(): number {
    return this.#disturbedUntil;
  }

  /** True if the client did not return to its rhythm in time, so that its rhythm is no longer considered. */
  get isWithoutRhythm(): boolean {
    return this.#isWithoutRhythm;
  }

  disturb(): void {
    this.#isDisturbed = true;
  }

  /** Records the end of a disturbance. @param until sequence number of the last event affected */
  disturbed(until = this.log.last): void {
    this.#disturbedUntil = until;
  }

  /** Records that the client polls as usual. @param isSure false if its next poll can still show otherwise */
  recovered(isSure = true): void {
    if (isSure) this.log.usualUntil = this.log.last;
    this.#isDisturbed = false;
    this.isLost = false;
  }

  lostRhythm(): void {
    this.#isWithoutRhythm = true;
  }

  end(end: End): void {
    this.#whyEnded ??= end;
    this.#end(end);
  }

  /** Ends the run on request. @param text a sentence that says so */
  stop(text: string): void {
    this.#isStopped ||= !this.isOver;
    this.end({ by: 'stop', text });
  }

  /** Resolves with a sentence when the client program has exited. */
  get crashed(): Promise<string> {
    return this.#crashed;
  }

  /** Records that the client program has exited. @param how a sentence, with the last output on further lines */
  clientEnded(how: string): void {
    this.#crash(how);
  }

  /** Restarts the client. @returns why that was not possible */
  async restart(): Promise<string | undefined> {
    this.#awaitCrash();
    const problem = await this.order.restart?.();
    this.isLost = false;
    this.disturb();
    this.disturbed();
    return problem;
  }

  /** Waits like `Waits.until`, before the client is disturbed. */
  until<Result>(find: () => Result | undefined, limitMs: number): Promise<Result | undefined> {
    return this.#waits.until(find, limitMs);
  }

  /** Records the result of watching the client: its polls, and the one to disturb. */
  watched(polls: readonly Poll[], target: Poll): void {
    this.log.usualUntil = this.log.last;
    this.#polls = polls;
    this.#target = target;
  }

  /** Records that the run can't begin. @param why a sentence @param more the end of it, perhaps on further lines */
  refuse(why: string, more = ''): { readonly refused: string } {
    this.#refusal = `${why}${more}`;
    return { refused: why };
  }

  /** Runs until the work is done, the time limit is reached, or someone stops the run. @returns why it ended early */
  async during(work: Promise<End | undefined>): Promise<End | undefined> {
    const { limitMs } = this.order;
    const text = `the limit of ${durationText(limitMs)} was reached`;
    const callOff = this.clock.callAfter(limitMs, () => this.end({ by: 'limit', text }));
    this.lateness.begin();
    const { names, resume } = this.#rulesOfBench.suspendOn(this.line.name);
    this.#suspended = names;
    if (names.length > 0) this.note(suspendedText(names));
    try {
      return await Promise.race([this.#ended, work]);
    } finally {
      resume();
      callOff();
      this.lateness.end();
      this.#waits.end();
    }
  }

  /**
   * Undoes the run's changes to the line. If the work is done, first waits for the last replies.
   * @returns why the line is not open again
   */
  async leave(): Promise<string | undefined> {
    this.rules.removeAll();
    const problem = await this.outage.end();
    if (!this.#whyEnded) await lastReplies(this.clock);
    return problem;
  }

  close(): void {
    this.#unsubscribe();
    this.#endedAt = this.clock.now();
  }

  #awaitCrash(): void {
    this.#crashed = new Promise((resolve) => {
      this.#crash = resolve;
    });
  }
}

/** Maximum number of fault rules named in a sentence. */
const MOST_NAMED = 4;

/** Says which fault rules are suspended during a run on the line, as a sentence. */
function suspendedText(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  const rules = names.length === 1 ? 'the fault rule' : 'the fault rules';
  return `suspended during the run: ${rules} ${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}
