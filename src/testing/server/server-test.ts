import { seededRandom } from '../../common/random.js';
import type { Doing } from '../doing.js';
import type { ClonedDevice } from '../survey/survey.js';
import type { Range } from '../survey/table-survey.js';
import { type Carrier, Ended, orWhenEnded } from './asker.js';
import { Bench, type ServerFacts, type ServerTestOrder } from './bench.js';
import {
  type Judged,
  notRun,
  type Provoked,
  type ServerCheck,
  type ServerVerdict,
  unsupported,
} from './check.js';
import { inTurn, isChosen, isFor, lackOf, SERVER_CHECKS } from './checks.js';
import type { Oddity } from './codes/oddities.js';
import type { Stopped } from './codes/phrases.js';
import { type Exchange, isDecisive } from './exchange.js';
import type { Code, Found } from './found.js';
import type { LostValue } from './lost.js';
import { hasOtherQuantity } from './reading.js';
import { replyTimes } from './reply-times.js';
import { RECOVERY_MS, surveyServer } from './survey.js';

/** The result of a check. */
export interface ServerFinding extends Judged {
  readonly check: ServerCheck;
  readonly durationMs: number;
}

/** The results of a server test. */
export interface ServerTest {
  readonly order: ServerTestOrder;
  readonly carrier: Carrier;
  /** Findings of all checks, in the order of the table; those for other transports are left out. */
  readonly findings: readonly ServerFinding[];
  readonly facts: ServerFacts;
  readonly times: ReturnType<typeof replyTimes>;
  readonly requests: number;
  readonly durationMs: number;
  /** What became of the server: it fell silent after a check, and came back or did not. */
  readonly fates: readonly Fate[];
  /** True if the server answered; otherwise nothing could be judged. */
  readonly isReached: boolean;
  /** True if it was stopped early, so that it is no verdict. */
  readonly isStopped: boolean;
  /** The values that checks have changed and that were not restored. */
  readonly lost: readonly LostValue[];
  /** The checks that silenced the server, by what they provoke. */
  readonly silencers: ReadonlyMap<Provoked, Silencing>;
  readonly log: readonly Exchange[];
  /** The content of the server, if the order asks for a `survey`. */
  readonly device?: ClonedDevice;
}

/** How a server stopped after a check. */
interface Fate extends Stopped {
  readonly check: string;
}

/** A check that silenced a server, and the duration in ms; undefined if it stayed silent. */
interface Silencing {
  readonly check: string;
  readonly ms: number | undefined;
}

/** Gets the findings of a server test during the run. */
export interface ServerTestAudience {
  found?(finding: ServerFinding): void;
  note?(text: string): void;
}

/** How long a silent server may take to come back on its own before power is switched, in ms. */
const BEFORE_POWER_MS = 1000;
/** Checks in the group `frames` that judge values rather than the frames themselves. */
const REPEATS = ['same-value', 'repeat-pair', 'repeat-block'];
/** If this machine was late by at least this, in ms, a missing reply proves nothing. */
const LATE_MS = 100;
/** Findings that depend only on times. */
const TIMED: readonly Code[] = ['gap-in-reply', 'slower-than-claimed', 'soak-slower'];
/** True for an oddity in a frame that arrived whole: a late machine splits frames, but changes no byte. */
const isWhole = (oddity: Oddity) => oddity === 'crc' || oddity === 'other-function';
/** Maximum number of trials for a violation, and how many must show it. */
const TRIALS = 4;
const SEEN_TIMES = 2;

/** Tests a server: runs the chosen checks, and judges the answers. Everything variable is an argument. */
export class ServerTestRun {
  readonly #bench: Bench;
  readonly #checks: readonly ServerCheck[];
  readonly #audience: ServerTestAudience;
  readonly #findings = new Map<ServerCheck, ServerFinding>();
  readonly #fates: Fate[] = [];
  #startedAt = 0;
  /** The requested checks in order, how many of them have ended, and since when. */
  #asked: readonly ServerCheck[] = [];
  #over = 0;
  #overSince = 0;
  /** The checks that silenced the server, by what they provoke. */
  readonly #silencers = new Map<Provoked, Silencing>();
  #device: ClonedDevice | undefined;
  #goneSince: string | undefined;
  readonly #stop = new AbortController();
  /** Aborted by a stop, and when the time limit is reached. */
  #budget = this.#stop.signal;
  #isCut = false;
  #lost: readonly LostValue[] = [];

  constructor(
    carrier: Carrier,
    order: ServerTestOrder,
    audience: ServerTestAudience = {},
    checks = SERVER_CHECKS,
  ) {
    this.#audience = audience;
    this.#bench = new Bench(carrier, order, seededRandom(order.seed, 0), (text) => audience.note?.(text));
    this.#checks = checks.filter((check) => isFor(check, carrier));
  }

  /** Stops the server test soon; the report contains what is known by then. */
  stop(): void {
    this.#stop.abort({ code: 'stopped' } satisfies Found);
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async run(): Promise<ServerTest> {
    const bench = this.#bench;
    this.#startedAt = bench.asker.clock.now();
    bench.lateness.begin();
    const callOff = this.#limit();
    try {
      const turns = inTurn(this.#checks, bench.random);
      this.#asked = turns.filter((check) => this.#whyNotAsked(check) === undefined);
      this.#overSince = this.#startedAt;
      for (const check of turns) await this.#carryOut(check);
    } finally {
      callOff();
      bench.lateness.end();
      this.#isCut = this.#isStopped;
      // Written values are restored even after a stop.
      bench.asker.signal = new AbortController().signal;
      this.#lost = await bench.scratch.putBack();
      bench.asker.signal = this.#stop.signal;
      if (bench.order.survey && bench.read !== undefined) {
        await this.#survey(bench.order.survey);
        this.#isCut ||= this.#isStopped;
      }
      await bench.asker.disconnect();
    }
    return this.soFar();
  }

  /** Ends the requests when the time limit is reached. @returns a function that cancels this */
  #limit(): () => void {
    const { order, asker } = this.#bench;
    const { limitMs } = order;
    if (limitMs === undefined) return () => {};
    const over = new AbortController();
    this.#budget = AbortSignal.any([this.#stop.signal, over.signal]);
    return asker.clock.callAfter(limitMs, () =>
      over.abort({ code: 'limit-reached', limitMs } satisfies Found),
    );
  }

  /** Reads the content of the server, for a file about it. */
  async #survey(ranges: readonly Range[]): Promise<void> {
    const isViolated = (id: string) =>
      [...this.#findings.values()].some(({ check, verdict }) => check.id === id && verdict === 'violates');
    const { log } = this.#bench;
    this.#device = await surveyServer(this.#bench, {
      ranges,
      isAfraid: this.#silencers.has('address'),
      isSingle: isViolated('map-end') || isViolated('block-agrees') || log.some(hasOtherQuantity),
    });
  }

  /** The current activity. */
  get doing(): Doing {
    const { asker, order } = this.#bench;
    const on = this.#asked[this.#over];
    if (!on) return { what: 'putting back what was written' };
    const onMs = asker.clock.now() - this.#overSince;
    const leftMs = isSoak(on) ? order.soakMs - onMs : 0;
    const moreMs = this.#asked.slice(this.#over).reduce((sum, check) => sum + this.#usualMs(check), -onMs);
    return {
      what: on.title,
      number: this.#over + 1,
      of: this.#asked.length,
      ...(leftMs > 0 && { leftMs }),
      moreMs: Math.max(0, moreMs),
    };
  }

  /**
   * Estimated time of a check, in ms: the average of completed checks in the same turn, or else of all
   * completed checks.
   */
  #usualMs(check: ServerCheck): number {
    const { soakMs } = this.#bench.order;
    if (isSoak(check)) return soakMs;
    const over = this.#asked.slice(0, this.#over).filter((each) => !isSoak(each));
    const alike = over.filter(({ turn }) => turn === check.turn);
    const those = alike.length > 0 ? alike : over;
    const spentMs = those.reduce((sum, each) => sum + (this.#findings.get(each)?.durationMs ?? 0), 0);
    return spentMs / Math.max(1, those.length);
  }

  /** The findings so far. */
  soFar(): ServerTest {
    const bench = this.#bench;
    const findings = this.#checks.flatMap((check) => this.#findings.get(check) ?? []);
    return {
      order: bench.order,
      carrier: bench.carrier,
      findings,
      facts: bench.facts,
      times: replyTimes(bench),
      requests: bench.asker.requests,
      durationMs: bench.asker.clock.now() - this.#startedAt,
      fates: this.#fates,
      isReached: bench.read !== undefined,
      isStopped: this.#isCut,
      lost: this.#lost,
      silencers: this.#silencers,
      log: bench.log,
      ...(this.#device && { device: this.#device }),
    };
  }

  async #carryOut(check: ServerCheck): Promise<void> {
    const { clock } = this.#bench.asker;
    const startedAt = clock.now();
    // Checks that judge all exchanges, and those that last as long as the user wants, are not subject to the
    // limit.
    const isUnlimited = check.turn === 'end' || check.group === 'endurance';
    this.#bench.asker.signal = isUnlimited ? this.#stop.signal : this.#budget;
    const why = this.#whyNot(check);
    const judged = why === undefined ? await this.#judge(check) : notRun(why);
    const finding = { check, ...judged, durationMs: clock.now() - startedAt };
    this.#findings.set(check, finding);
    if (check === this.#asked[this.#over]) {
      this.#over++;
      this.#overSince = clock.now();
    }
    this.#audience.found?.(finding);
  }

  /** Why a check is not run. */
  #whyNot(check: ServerCheck): Found | undefined {
    const { read, asker } = this.#bench;
    if (asker.isStopped) return asker.signal.reason as Found;
    if (check.group !== 'there' && read === undefined) return { code: 'nothing-answers' };
    if (this.#goneSince !== undefined && check.turn !== 'end')
      return { code: 'gone-since', check: this.#goneSince };
    if (this.#bench.blocked !== undefined && check.turn !== 'end') return this.#bench.blocked;
    const [silencer] = (check.provokes ?? []).flatMap((each) => this.#silencers.get(each) ?? []);
    if (silencer !== undefined && silencer.check !== check.id)
      return { code: 'may-silence', check: silencer.check };
    return this.#whyNotAsked(check);
  }

  /** Why the order leaves a check out. */
  #whyNotAsked(check: ServerCheck): Found | undefined {
    const { order } = this.#bench;
    const isWanted = check.group === 'there' || isChosen(check, order.checks);
    return isWanted ? lackOf(check, order) : { code: 'not-asked-for' };
  }

  /** Runs a check, and repeats it if it blames the server: a violation is reported only if it was seen twice. */
  async #judge(check: ServerCheck): Promise<Judged> {
    const { asker } = this.#bench;
    const blamed: Judged[] = [];
    let [other, late]: (Judged | undefined)[] = [];
    for (let trial = 1; trial <= TRIALS; trial++) {
      const judged = await this.#trial(check);
      if (this.#goneSince !== undefined) return judged;
      // If this machine was late, the check is repeated, as long as trials are left.
      if (judged.but?.code === 'machine-late') {
        late = judged;
        continue;
      }
      if (judged.verdict !== 'violates') {
        if (blamed.length === 0 || judged.isOdd) return judged;
        other = judged;
      } else if (check.isSeveral || judged.isFinal) return judged;
      else blamed.push(judged);
      if (blamed.length === SEEN_TIMES) {
        const shown = blamed.flatMap((each) => each.shown ?? []);
        return { ...(blamed[0] as Judged), shown, seen: { times: SEEN_TIMES, of: trial } };
      }
      if (asker.isStopped) break;
    }
    const [first] = blamed;
    if (late) return late;
    const otherwise: Found =
      other?.said ?? (asker.isStopped ? (asker.signal.reason as Found) : { code: 'not-seen' });
    return { ...(first as Judged), verdict: 'inconclusive', otherwise };
  }

  async #trial(check: ServerCheck): Promise<Judged> {
    const bench = this.#bench;
    const { asker } = bench;
    asker.check = check.id;
    const from = asker.log.length;
    const found = await this.#run(check);
    const judged = this.#unlessLate(this.#withoutMute(check, this.#withoutOddities(check, found)));
    if (bench.read === undefined || check.turn === 'end') return judged;
    // A server that has just answered a read is alive.
    const { isPlain, isOwn, answer } = bench.lastAsked;
    if (isPlain && isOwn && answer.kind === 'data' && judged.verdict !== 'violates') return judged;
    // A check that the limit has ended may have silenced the server. That is attributed to this check, not to
    // the next.
    const { signal } = asker;
    asker.signal = this.#stop.signal;
    const isAlive = await bench.isAlive().catch(orWhenEnded(true));
    const silenced = isAlive ? undefined : await this.#afterSilence(check, asker.log.slice(from));
    asker.signal = signal;
    if (!silenced) return judged;
    return judged.isOwnFate ? { ...judged, isFinal: true, seen: { times: 1, of: 1 } } : silenced;
  }

  async #run(check: ServerCheck): Promise<Judged> {
    try {
      return await check.run(this.#bench);
    } catch (error) {
      if (error instanceof Ended) return notRun(error.why);
      throw error;
    }
  }

  /** A missing or late reply decides nothing if this machine was late itself. */
  #unlessLate(judged: Judged): Judged {
    const [first, ...others] = judged.shown ?? [];
    if (judged.verdict !== 'violates' || !first) return judged;
    const isMissing = [first, ...others].some(
      ({ answer, oddities }) =>
        answer.kind === 'silent' || (answer.kind === 'garbled' && !oddities.some(isWhole)),
    );
    if (!isMissing && !TIMED.includes(judged.said.code)) return judged;
    const ms = this.#bench.lateness.between(first.startedAt);
    return ms < LATE_MS ? judged : { ...judged, verdict: 'inconclusive', but: { code: 'machine-late', ms } };
  }

  /** If functions that the server lacks get no answer, `function-unknown` reports that once. */
  #withoutMute(check: ServerCheck, judged: Judged): Judged {
    const { facts, log } = this.#bench;
    const [shown] = judged.shown ?? [];
    const code = shown?.pdu?.[0];
    if (!facts.isMuteToUnknown || check.id === 'function-unknown' || shown?.answer.kind !== 'silent')
      return judged;
    if (
      log.some(({ pdu, answer: { kind } }) => pdu?.[0] === code && (kind === 'data' || kind === 'exception'))
    )
      return judged;
    return unsupported({ code: 'function-mute', function: code ?? 0 }, shown);
  }

  /**
   * If the evidence is odd in a way that many replies are, the frames are to blame rather than what the check
   * tests: one cause, one finding.
   */
  #withoutOddities(check: ServerCheck, judged: Judged): Judged {
    const isOwn = check.id === 'rtu-collision' || (check.group === 'frames' && !REPEATS.includes(check.id));
    if (judged.verdict !== 'violates' || isOwn) return judged;
    const shown = judged.shown?.flatMap(({ oddities }) => oddities) ?? [];
    // A server may take a request that it has just sent itself for an echo.
    const odd = [...shown, 'echo' as const].find((oddity) => this.#bench.isOdd(oddity));
    const isLost = judged.shown?.some((each) => this.#bench.isLostForBytes(each));
    if (isLost && judged.said.code !== 'bytes-lost')
      return { ...judged, verdict: 'inconclusive', but: { code: 'bytes-in-the-way' }, isOdd: true };
    const but: Found | undefined =
      odd === undefined ? this.#strayBytes(check, judged) : { code: 'frames-odd', oddity: odd };
    return but === undefined ? judged : { ...judged, verdict: 'inconclusive', but, isOdd: true };
  }

  /**
   * Another device's bytes may complete or corrupt the frames sent by a damage check, and may be part of
   * replies, so these do not show a fault of the server.
   */
  #strayBytes({ group, id }: ServerCheck, { shown = [] }: Judged): Found | undefined {
    const isGarbled = shown.some(({ answer }) => answer.kind === 'garbled');
    if (['stray-bytes', 'rtu-collision'].includes(id) || (group !== 'bus' && !isGarbled)) return undefined;
    const isStray = this.#bench.log.some(({ unsolicited }) => unsolicited.length > 0);
    return isStray ? { code: 'others-send' } : undefined;
  }

  /**
   * Handles a server that stopped answering after a check: reports it, and waits until the server is back.
   * @param log the exchanges of the check
   */
  async #afterSilence(check: ServerCheck, log: readonly Exchange[]): Promise<Judged> {
    const bench = this.#bench;
    const { asker, order } = bench;
    const unanswered = log.slice(log.findLastIndex(isDecisive) + 1).find(({ isExpected }) => isExpected);
    const since = unanswered?.sentAt ?? asker.clock.now();
    const last = asker.log.at(-1) as Exchange;
    // The last request before the silence, and the first that got no answer.
    const shown = log.slice(Math.max(0, log.findLastIndex(isDecisive))).filter(({ sent }) => sent.length > 0);
    const only = last.answer.kind === 'exception' ? last.answer.code : undefined;
    bench.progress(`${check.id} has silenced the server; waiting for it to recover`);
    const back = (ms: number) => bench.isBack(ms).catch(orWhenEnded(false));
    let isBack = await back(order.powerCycle ? BEFORE_POWER_MS : RECOVERY_MS);
    const isAlone = isBack;
    if (!isBack && order.powerCycle && !asker.isStopped) {
      await order.powerCycle(asker.signal);
      isBack = await back(RECOVERY_MS);
    }
    const silentMs = asker.clock.now() - since;
    const stopped = { silentMs, isBack, ...(only !== undefined && { only }) };
    this.#fates.push({ check: check.id, ...stopped });
    if (!isBack) this.#goneSince = check.id;
    for (const each of check.provokes ?? [])
      this.#silencers.set(each, { check: check.id, ms: isAlone ? silentMs : undefined });
    return {
      verdict: 'violates',
      grade: 'dangerous',
      said: { code: 'stopped-answering', ...stopped },
      shown: shown.slice(0, 4),
      ...(!isBack && { seen: { times: 1, of: 1 } }),
    };
  }
}

/** True for the check whose duration the order gives. */
function isSoak({ needs = [] }: ServerCheck): boolean {
  return needs.includes('soak');
}

/** The worst verdict in a server test. */
export function verdictOfAll({ findings, isReached, isStopped, lost }: ServerTest): ServerVerdict {
  if (lost.length > 0 || findings.some(({ verdict }) => verdict === 'violates')) return 'violates';
  if (isStopped) return 'inconclusive';
  return isReached ? 'conforms' : 'not-run';
}
