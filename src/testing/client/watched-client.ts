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

/** Which client a client test or a fuzz run is about, and how long it may take. */
export interface ClientOrder {
  readonly line: Line;
  /** The unit whose requests are disturbed; any unit when undefined. */
  readonly unitId: number | undefined;
  readonly limitMs: number;
  /** The same seed tries the same, in the same order. */
  readonly seed: number;
  /** What the tester says about the client; undefined when nothing. */
  readonly about?: RunAbout | undefined;
  /** Shows the values that the client has read; undefined when nothing does. */
  readonly observer?: Observer | undefined;
  /**
   * Starts the client again, also one that runs; undefined when nobody can.
   * @returns why that was not possible; undefined when it was
   */
  readonly restart?: (() => Promise<string | undefined>) | undefined;
}

/** Callbacks for a follower of a run. */
export interface Audience {
  /**
   * Called when a check is over, or a failure is known better.
   * @param number counts the findings from 1
   */
  readonly found?: (finding: Finding, number: number) => void;
  /** Called with a sentence that says what is waited for, or how far the run has come. */
  readonly note?: (text: string) => void;
}

/** Why a run ends before its work is done. */
export interface End {
  readonly text: string;
  /** `client`: nothing more can be done to the client. `bench`: the line could not be used. */
  readonly by: 'stop' | 'limit' | 'client' | 'bench';
}

interface Around {
  readonly audience?: Audience | undefined;
  readonly clock?: Clock | undefined;
  /** True while the run itself has closed the line. */
  readonly keepsClosed?: () => boolean;
}

/**
 * The client of a line while a run works on it: what is heard of it and known of it, what the run does to its
 * line, and the way from the start of the run to its end.
 */
export class WatchedClient {
  readonly order: ClientOrder;
  readonly clock: Clock;
  readonly line: PolledLine;
  readonly log: ExchangeLog;
  readonly rules: OwnRules;
  readonly outage: Outage;
  /** How late this machine is. */
  readonly lateness: Lateness;
  /** Knows which values the client has read; undefined without an observer. */
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
  /** The fault rules that did not act meanwhile. */
  #suspended: readonly string[] = [];
  #refusal: string | undefined;
  #target: Poll | undefined;
  #polls: readonly Poll[] = [];
  #facts: ClientFacts = {};
  #isDisturbed = false;
  #disturbedUntil = 0;
  #isWithoutRhythm = false;
  /** True when the client took no replies in the time to recover, and nothing was done about it since. */
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

  /** What every report says of the run. `refusal` is why it could not begin, as a sentence. */
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

  /** The poll that is disturbed; undefined until the client was watched. */
  get target(): Poll | undefined {
    return this.#target;
  }

  /** All polls that the client asks, as watching has shown them. */
  get polls(): readonly Poll[] {
    return this.#polls;
  }

  get facts(): ClientFacts {
    return this.#facts;
  }

  /** Keeps what a check has found, for later checks and the report. */
  learn(facts: ClientFacts): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** Tells the followers of the run what is waited for. */
  note(text: string): void {
    this.#audience.note?.(text);
  }

  /** Tells the followers of the run what was found. @param number counts the findings from 1 */
  found(finding: Finding, number: number): void {
    this.#audience.found?.(finding, number);
  }

  /** True from a disturbance until the client was seen to poll as usual. */
  get isDisturbed(): boolean {
    return this.#isDisturbed;
  }

  /** Sequence number of the last event that was disturbed. */
  get disturbedUntil(): number {
    return this.#disturbedUntil;
  }

  /** True when the client did not return to its rhythm in time, so that its rhythm is no longer looked at. */
  get isWithoutRhythm(): boolean {
    return this.#isWithoutRhythm;
  }

  disturb(): void {
    this.#isDisturbed = true;
  }

  /** A disturbance is over. @param until sequence number of the last event that it concerned */
  disturbed(until = this.log.last): void {
    this.#disturbedUntil = until;
  }

  /** The client was seen to poll as usual. @param isSure false while its next poll can show that it does not */
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

  /** Ends the run because somebody wants that. @param text says so */
  stop(text: string): void {
    this.#isStopped ||= !this.isOver;
    this.end({ by: 'stop', text });
  }

  /** Resolves with a sentence when the program of the client has ended. */
  get crashed(): Promise<string> {
    return this.#crashed;
  }

  /** The program of the client has ended. @param how a sentence, with the last output on further lines */
  clientEnded(how: string): void {
    this.#crash(how);
  }

  /** Starts the client again. @returns why that was not possible */
  async restart(): Promise<string | undefined> {
    this.#awaitCrash();
    const problem = await this.order.restart?.();
    this.isLost = false;
    this.disturb();
    this.disturbed();
    return problem;
  }

  /** Waits as `Waits.until` does, before anything is done to the client. */
  until<Result>(find: () => Result | undefined, limitMs: number): Promise<Result | undefined> {
    return this.#waits.until(find, limitMs);
  }

  /** The client was watched: its polls are known, and which one is disturbed. */
  watched(polls: readonly Poll[], target: Poll): void {
    this.log.usualUntil = this.log.last;
    this.#polls = polls;
    this.#target = target;
  }

  /** The run can't begin. @param why a sentence @param more its end, on further lines perhaps */
  refuse(why: string, more = ''): { readonly refused: string } {
    this.#refusal = `${why}${more}`;
    return { refused: why };
  }

  /** Does the work of the run until it is done, the time is over, or somebody ends it. @returns why it ended early */
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
   * Takes away what the run did to the line, and hears the last replies of one that has done its work.
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

/** How many fault rules a sentence names. */
const MOST_NAMED = 4;

/** Says which fault rules do not act while a run works on the line, as a sentence. */
function suspendedText(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  const rules = names.length === 1 ? 'the fault rule' : 'the fault rules';
  return `suspended during the run: ${rules} ${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}
