import type { FaultRule } from '../../device/faults/rule.js';
import type { Clock } from '../../modbus/transport/clock.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { Missed, Verdict } from '../report/report.js';
import { durationText, framesText, missedText, timesText } from '../report/words.js';
import type { Actions, Spoilt } from './actions.js';
import type { DutControl } from './dut.js';
import { type GoalEnd, type GoalWatch, RhythmWatch, Waiting } from './goal.js';
import { InOrder } from './in-order.js';
import type { Happening, Inbox } from './inbox.js';
import { matches, NearestMiss, ofRequests } from './matcher.js';
import type { PollIntervals } from './retry-or-poll.js';
import type { Forbidden, ScenarioStep } from './scenario.js';
import type { Evidence, SayEvent, Seen } from './seen.js';

/** Conditions that may keep a rule from acting on a request that meets all its other conditions. */
const LIMITS = ['after', 'every', 'probability', 'from', 'for'] as const;

/** Tracks the effect of a step's faults. */
class ArmedFaults {
  readonly #rules: readonly FaultRule[];
  readonly #nearest: NearestMiss;
  #isAimed = false;
  #achieved = false;
  #notAchieved: string | undefined;
  /**
   * Sequence number of the newest request to a real device that the faults apply to, until its reply shows
   * whether they acted.
   */
  #undecided: number | undefined;

  constructor(rules: readonly FaultRule[]) {
    this.#rules = rules;
    this.#nearest = new NearestMiss(rules.map(({ when, values }) => ofRequests(when, values)));
  }

  /**
   * Looks at a request or a reply.
   * @param spoilt what the faults of the step did to it; undefined if none acted
   */
  see(seen: Seen, spoilt: Spoilt | undefined): void {
    if (spoilt) {
      this.#isAimed = true;
      this.#notAchieved ??= spoilt.notAchieved;
      if (!spoilt.isDecided) this.#undecided = seen.event.seq;
    } else if (!this.#isAimed) {
      this.#nearest.see(seen);
    }
  }

  /** Looks at an event that may be the reply to an altered request. */
  hear(event: TrafficEvent): void {
    if (event.kind !== 'reply') return;
    if (event.request === this.#undecided) this.#undecided = undefined;
    for (const { rule, notAchieved } of event.acted) {
      if (!this.#rules.some(({ name }) => name === rule)) continue;
      if (notAchieved === undefined) this.#achieved = true;
      else this.#notAchieved ??= notAchieved;
    }
  }

  /** The request whose reply will show whether the faults could act; undefined if that is known. */
  get undecided(): number | undefined {
    return this.#achieved ? undefined : this.#undecided;
  }

  /** Explains why none of the faults acted; undefined if one did, or if there are none. */
  get whyNot(): string | undefined {
    if (this.#rules.length === 0 || this.#achieved) return undefined;
    if (this.undecided !== undefined)
      return 'the effect of the fault is not known: the real device did not reply in time';
    if (this.#notAchieved !== undefined) return `the fault could not act: ${this.#notAchieved}`;
    if (this.#isAimed) return undefined;
    const nearest = this.#nearest.text(`met its conditions, ${this.#limits}`);
    return nearest === undefined
      ? 'no request arrived after the fault took effect'
      : `the fault never acted; ${nearest}`;
  }

  get #limits(): string {
    const keys = LIMITS.filter((key) => this.#rules.some(({ when }) => when[key] !== undefined));
    const limits = [...keys, ...(this.#rules.some(({ schedule }) => schedule) ? ['schedule'] : [])];
    return limits.length === 0
      ? 'but got no reply that the fault could act on'
      : `but ${limits.map((key) => `\`${key}\``).join(' or ')} kept the fault from acting`;
  }
}

export interface StepSurroundings {
  readonly inbox: Inbox;
  readonly actions: Actions;
  readonly clock: Clock;
  readonly say: SayEvent;
  readonly heard: (event: TrafficEvent) => void;
  /** Requests and replies that must never come. */
  readonly always: readonly Forbidden[];
  /** The frames so far that match an entry of `always`, by entry. */
  readonly counts: Map<Forbidden, number[]>;
  /** Stops and starts the program under test; undefined if there is none. */
  readonly dut: DutControl | undefined;
  /** The intervals of the client's polls, as seen in the steps so far. */
  readonly polls: PollIntervals;
}

/** How a step ended. `over`: no step can run after it. */
export interface StepEnd {
  readonly verdict: Verdict;
  readonly message: string;
  readonly over: boolean;
  readonly missed?: Missed;
}

/** How long to wait for the reply of a real device, in ms. */
const LONGEST_REPLY_MS = 60_000;

/**
 * Runs one step from its actions to its end. When it resolves, the step's faults are still in force, and its
 * lines still closed.
 */
export async function runStep(
  step: ScenarioStep,
  evidence: Evidence,
  surroundings: StepSurroundings,
): Promise<StepEnd> {
  const { inbox, actions, clock, say, heard, always, polls } = surroundings;
  let refused = actions.begin(step);
  if (actions.changing !== undefined) refused ??= await actions.changing;
  refused ??= await controlled(step, surroundings);
  if (refused !== undefined) return { verdict: 'error', message: refused, over: false };
  // Events during the stop or start of the program under test belong to this step.
  const startedAt = clock.now();
  const goal = watchOf(step, startedAt, polls);
  const forbidden = new Map<Forbidden, number[]>(step.never.map((each) => [each, []]));
  for (const each of always) {
    const frames = surroundings.counts.get(each) ?? [];
    surroundings.counts.set(each, frames);
    forbidden.set(each, frames);
  }
  const faults = new ArmedFaults(step.faults);
  const timer = deadlineTimer(goal, inbox, clock);
  const end = async (ended: GoalEnd) => {
    if (faults.undecided !== undefined) await decided(faults, inbox, clock);
    const isMissed = ended.verdict === 'fail' && faults.whyNot === undefined;
    const late = isMissed ? await lateEvent(goal, surroundings) : undefined;
    if (!late || !ended.missed) return stepEnd(ended, faults, evidence);
    evidence.count({ event: late });
    const by = durationText(Math.max(0, late.at - goal.deadline));
    const received = `${ended.missed.received}; it arrived ${by} too late (frame ${late.seq})`;
    return stepEnd({ ...ended, missed: { ...ended.missed, received, frame: late.seq } }, faults, evidence);
  };
  timer.arm();
  try {
    for (;;) {
      const happening = await inbox.next();
      const isLate = happening.kind === 'event' && happening.event.at > goal.deadline;
      if (isLate) return await end(goal.timeUp());
      inbox.take();
      if (happening.kind === 'end')
        return { verdict: happening.verdict, message: happening.text, over: true };
      if (happening.kind === 'time') {
        if (clock.now() >= goal.deadline) return await end(goal.timeUp());
        timer.arm();
        continue;
      }
      const { event } = happening;
      heard(event);
      evidence.note(event);
      faults.hear(event);
      const deadline = goal.deadline;
      const ended = lookAt(happening, goal, forbidden, { evidence, faults, polls });
      if (ended && 'frames' in ended) {
        const after = durationText(Math.max(0, event.at - startedAt));
        const { frames, matcher } = ended;
        const [times, last] = frames.length === 1 ? ['', ''] : [` ${timesText(frames.length)}`, ' the last'];
        const received = `${say(event)}${times},${last} after ${after} (${framesText(frames)})`;
        const missed = { expected: `not ${matcher.text}${times}`, received, frame: event.seq };
        return { verdict: 'fail', message: missedText(missed, []), over: false, missed };
      }
      if (ended) return await end(ended);
      if (goal.deadline < deadline) timer.arm();
    }
  } finally {
    timer.stop();
  }
}

/** How long a request that a program sent before it exited may take to arrive, in ms. */
const LAST_WORDS_MS = 250;

/**
 * Stops or starts the program under test.
 * @returns why that was not possible; undefined on success, or if the step does neither
 */
async function controlled(
  { dut: what }: ScenarioStep,
  { dut, clock }: StepSurroundings,
): Promise<string | undefined> {
  if (what === undefined) return undefined;
  if (!dut) return 'this run has no program under test';
  if (what !== 'start') {
    await dut.stop();
    await new Promise<void>((resolve) => clock.callAfter(LAST_WORDS_MS, resolve));
  }
  return what === 'stop' ? undefined : dut.start();
}

/** How long to look for a missed request after the step: one poll of the client, within these bounds, in ms. */
const LATE_MS = { least: 250, most: 2_000 };

/** The request that a step missed, if it came within one poll after the step. The next step sees it too. */
async function lateEvent(
  goal: GoalWatch,
  { inbox, actions, clock, polls }: StepSurroundings,
): Promise<TrafficEvent | undefined> {
  const { missing } = goal;
  if (!missing) return undefined;
  // The faults belong to the step, and must not act on anything after it.
  actions.endStep();
  if (actions.changing !== undefined) await actions.changing;
  const ended = clock.now();
  const ms = Math.min(LATE_MS.most, Math.max(LATE_MS.least, polls.longest ?? 0));
  const callOff = clock.callAfter(ms, () => inbox.put({ kind: 'time' }));
  const late = await inbox.first(
    (_, seen) => seen !== undefined && missing(seen),
    () => clock.now() >= ended + ms,
  );
  callOff();
  return late;
}

/** Waits for the reply of a real device that shows whether the faults acted. */
async function decided(faults: ArmedFaults, inbox: Inbox, clock: Clock): Promise<void> {
  const until = clock.now() + LONGEST_REPLY_MS;
  const callOff = clock.callAfter(LONGEST_REPLY_MS, () => inbox.put({ kind: 'time' }));
  for (let request = faults.undecided; request !== undefined; request = faults.undecided) {
    const isReply = (event: TrafficEvent) => event.kind === 'reply' && event.request === request;
    const reply = await inbox.first(isReply, () => clock.now() >= until);
    if (!reply) break;
    faults.hear(reply);
  }
  callOff();
}

interface Watched extends Pick<StepSurroundings, 'polls'> {
  readonly evidence: Evidence;
  readonly faults: ArmedFaults;
}

function lookAt(
  { seen, spoilt }: Extract<Happening, { kind: 'event' }>,
  goal: GoalWatch,
  forbidden: ReadonlyMap<Forbidden, number[]>,
  { evidence, faults, polls }: Watched,
): GoalEnd | { readonly frames: readonly number[]; readonly matcher: Forbidden['matcher'] } | undefined {
  if (!seen) return undefined;
  faults.see(seen, spoilt);
  polls.see(seen, spoilt !== undefined);
  for (const [{ matcher, times }, frames] of forbidden) {
    if (!matches(matcher, seen)) continue;
    evidence.count(seen);
    frames.push(seen.event.seq);
    if (frames.length >= times) return { frames: frames.splice(0), matcher };
  }
  const before = goal.matched.length;
  const ended = goal.see(seen, spoilt !== undefined);
  for (const each of goal.matched.slice(before)) evidence.count(each);
  return ended;
}

function watchOf({ goal, faults, never }: ScenarioStep, at: number, polls: PollIntervals): GoalWatch {
  switch (goal.kind) {
    case 'wait':
      return new Waiting({ at, ...goal, hasNever: never.length > 0 });
    case 'order':
      return new InOrder(goal.items, { at, within: goal.within, ...(faults.length > 0 && { polls }) });
    case 'rhythm':
      return new RhythmWatch(goal, at, goal.within);
  }
}

/** Puts `time` into the inbox once the deadline has passed that was current when the timer was set. */
function deadlineTimer(goal: GoalWatch, inbox: Inbox, clock: Clock) {
  let stop = () => {};
  return {
    arm() {
      stop();
      stop = clock.callAfter(Math.max(0, goal.deadline - clock.now()), () => inbox.put({ kind: 'time' }));
    },
    stop: () => stop(),
  };
}

function stepEnd(ended: GoalEnd, faults: ArmedFaults, evidence: Evidence): StepEnd {
  const { verdict, text, missed } = ended;
  const { whyNot } = faults;
  const newest = evidence.newest(missed?.frame);
  if (whyNot !== undefined)
    return { verdict: 'inconclusive', message: missedText({ received: whyNot }, newest), over: false };
  if (missed) return { verdict, message: missedText(missed, newest), over: false, missed };
  const message = verdict === 'pass' ? text : missedText({ received: text }, newest);
  return { verdict, message, over: false };
}
