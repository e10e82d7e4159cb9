import { type Misbehaviour, readCatalogue } from '../../document/catalogue.js';
import { fileText } from '../../document/print.js';
import { addressRanges } from '../../modbus/protocol/pdu.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { Poll } from '../client/heard/exchange.js';
import { unevenText } from '../client/heard/watching.js';
import type { WatchedClient } from '../client/watched-client.js';
import { type Finding, type Report, STOPPED, type Verdict, versions } from '../report/report.js';
import { capital, sentence } from '../report/words.js';
import { spanOf, usualTimes } from '../times.js';
import {
  closedMs,
  type FuzzOrder,
  kindsIn,
  type Move,
  movesText,
  moveText,
  type Schedule,
  type WrittenActions,
} from './move.js';
import { ENDLESS } from './pace.js';
import type { ClientFailure } from './play.js';

import { NEEDED, type Plays } from './shrink.js';

/** The entries and the kinds of their faults, read once: a report is made each time that someone asks for it. */
let known: readonly { readonly entry: Misbehaviour; readonly kinds: ReadonlySet<string> }[] | undefined;

/**
 * The catalogue entry that shares the most kinds of faults and manners with the moves; undefined if no entry
 * shares any.
 */
function nearestEntry(schedule: Schedule): Misbehaviour | undefined {
  const done = new Set(schedule.flatMap(({ does }) => kindsOf(does)));
  known ??= readCatalogue().map((entry) => ({ entry, kinds: new Set(kindsOf(actionsOf(entry))) }));
  const scored = known.map(({ entry, kinds }) => {
    const shared = [...kinds].filter((kind) => done.has(kind)).length;
    return { entry, score: shared / (kinds.size + done.size - shared || 1) };
  });
  const best = scored.reduce((first, each) => (each.score > first.score ? each : first));
  return best.score > 0 ? best.entry : undefined;
}

function actionsOf({ faults, manners }: Misbehaviour): WrittenActions {
  return { fault: faults, ...(manners && { manners: { all: manners } }) };
}

/** A device without power is silent, and a closed line closes its connections. */
const ALIKE: Readonly<Record<string, string>> = { power: 'silence', closed: 'close' };

function kindsOf(does: WrittenActions): string[] {
  return kindsIn(does).map((kind) => ALIKE[kind] ?? kind);
}

/** The facts about the bench and the client that a scenario needs in addition to the schedule. */
interface Shown {
  readonly line: string;
  readonly seed: number;
  /** `configuration` and `dut` of the scenario. */
  readonly bench?: object | undefined;
  readonly target: Poll;
  readonly polls: readonly Poll[];
}

type WrittenSteps = readonly object[];

/** How long the client may take to return to its usual polling cycle, in ms and in poll periods. */
const BACK_MS = 60_000;
const BACK_PERIODS = 20;
/** How long the client may take until it polls in its rhythm, in ms. */
const SETTLED_MS = 10_000;
/** How long to watch its rhythm, in poll periods and in ms. */
const WATCHED_PERIODS = 5;
const WATCHED_MS = 3_000;
/** How much the rhythm may vary: this fraction of the period, or this many ms. */
const SLACK = 0.5;
const SLACK_MS = 100;
const LEAST_REQUESTS = 20;

/**
 * Writes a scenario for `test`, in YAML. It fails for a client that fails on the schedule, and passes for one
 * that returns to its usual polling cycle.
 */
function scenarioText(schedule: Schedule, { kind, text }: ClientFailure, shown: Shown): string {
  const { line, seed, bench, target, polls } = shown;
  const periodMs = Math.max(1, Math.round(target.periodMs ?? 0));
  const within = Math.max(BACK_MS, BACK_PERIODS * periodMs);
  const watched = Math.max(WATCHED_MS, WATCHED_PERIODS * periodMs);
  const regular = polls.filter((each) => each.asked.length * 2 >= target.asked.length);
  const isEndless = kind === 'endless';
  const tooOften = Math.ceil((ENDLESS * watched * regular.length) / periodMs);
  const calm = { never: { times: Math.max(LEAST_REQUESTS, tooOften) } };
  const isSeen = kind !== 'value' && kind !== 'bytes';
  const steps: WrittenSteps = [
    {
      name: 'it polls',
      expect: [askedFor(target), { same: true, times: { min: 3 } }],
      within,
    },
    ...schedule.flatMap((move) =>
      stepsOf(move, isEndless ? { wait: watched, ...calm } : { wait: lengthOf(move, target) }),
    ),
    ...regular.map((each) => ({
      name: `it gets a reply to ${each.text}`,
      expect: { ...askedFor(each), response: 'ok', times: { min: 3 } },
      within,
    })),
    ...(isEndless ? [{ name: 'it does not poll endlessly', ...calm, within: watched }] : []),
    ...(kind === 'astray' ? rhythm(target, watched, within) : []),
  ];
  const unseen = "A scenario can't detect this. fuzz --replay plays the same moves and checks for it.";
  return fileText({ name: movesText(schedule), line, seed, ...bench, steps }, [
    `The client ${text.split('\n')[0]}.`,
    ...(isSeen ? [] : [unseen]),
  ]);
}

/** The length of a move, in requests; for a closed line, on which no request can come, the equivalent time in ms. */
function lengthOf({ requests, does }: Move, { periodMs = 0 }: Poll): object | number {
  return 'closed' in does ? closedMs(requests, periodMs) : { requests };
}

function stepsOf({ after, requests, does }: Move, goal: object): WrittenSteps {
  const { power } = does as { readonly power?: Readonly<Record<string, unknown>> };
  const on = power && Object.fromEntries(Object.keys(power).map((name) => [name, 'on']));
  return [
    ...(after > 0 ? [{ wait: { requests: after } }] : []),
    { name: moveText({ after: 0, requests, does }), ...does, ...goal },
    ...(on ? [{ power: on }] : []),
  ];
}

/** The steps that fail for a client with a different poll rhythm; none for one that never had a rhythm. */
function rhythm(target: Poll, watched: number, within: number): WrittenSteps {
  if (unevenText(target) !== undefined) return [];
  const every = Math.round(target.periodMs ?? 0);
  const spread = spanOf(usualTimes(target.intervals));
  const tolerance = Math.round(Math.max(SLACK * every, 2 * spread, SLACK_MS));
  return [
    { wait: SETTLED_MS },
    { name: 'it polls as before', expect: { ...askedFor(target), every, tolerance, for: watched }, within },
  ];
}

/** The conditions that match the requests of a poll. */
function askedFor({ unitId, functionCode, pdu }: Poll): object {
  const [range] = addressRanges(pdu);
  return { unit: unitId, function: functionCode, ...(range && { address: range.address }) };
}

/** A failure of the client, and the shortest schedule found so far that reproduces it. */
export interface SeenFailure {
  readonly schedule: Schedule;
  /** What the client met in each move; undefined if the replies were good. */
  readonly met: readonly (string | undefined)[];
  readonly failure: ClientFailure;
  readonly plays: Plays;
  /** Plays without moves that are as long as the shortest schedule; undefined if there were none. */
  readonly without?: Plays;
  /** True if no shorter or simpler schedule is left to try. */
  readonly isShortest?: boolean;
  /** The events of the latest play in which the client failed. */
  readonly frames: readonly TrafficEvent[];
  /** Sequence numbers of the last event before that play, and of the last event in it. */
  readonly since: number;
  readonly last: number;
}

/** The progress and findings of a fuzz run so far. */
export interface KnownByNow {
  /** Why no more moves could be played, as a sentence. */
  fate?: string;
  moves: number;
  plays: number;
  readonly seen: SeenFailure[];
  /** Kinds of moves that broke the client and were excluded from then on. */
  readonly leftOut: string[];
}

/** With fewer moves than this, a run without failures shows nothing. */
const FEWEST_MOVES = 10;

const RULE = `Fails when the client exits, stops polling, polls endlessly, sends bytes that are not a request, shows a value that \
no reply carried, or does not return to its usual polls, in ${NEEDED} of 3 plays of the same moves, or without any moves; inconclusive when this was seen once and could not be reproduced.`;

/** Makes the report from the results so far. */
export function fuzzReport(
  order: FuzzOrder,
  { course, target, polls }: Pick<WatchedClient, 'course' | 'target' | 'polls'>,
  known: KnownByNow,
): Report {
  const { line, seed, about } = order;
  const { startedAt, durationMs, isStopped, refusal, whyEnded } = course;
  const { fate, seen, moves, plays, leftOut } = known;
  const findings = seen.map((each, i) => findingOf(each, i + 1));
  const shown = seen.filter(isShown);
  const best = shown.find((each) => !isByItself(each)) ?? shown[0] ?? seen[0];
  const named = shown.length > 0 ? shown : best ? [best] : [];
  const isOpen = named.some((each) => isShown(each) && !each.isShortest && !isByItself(each));
  // Findings come last, because a terminal shows the end of the output.
  const conclusions = [
    isStopped ? STOPPED : undefined,
    course.suspended,
    fate,
    best && whyEnded && `${whyEnded}${isOpen ? ', before all shorter schedules were tried' : ''}`,
    ...new Set(
      refusal !== undefined
        ? [refusal]
        : named.length > 0
          ? named.map(conclusionOf)
          : [triedText(known, course.isOver)],
    ),
  ];
  const entry = best && nearestEntry(best.schedule);
  return {
    kind: 'fuzz',
    name: `the client on line ${line.name}, fuzzed`,
    startedAt,
    durationMs,
    verdict: verdictOf(course, known),
    isStopped,
    line: line.name,
    seed,
    ...(about && { about }),
    conclusions: conclusions.flatMap((text) => (text === undefined || text === '' ? [] : sentence(text))),
    parameters: [
      { name: 'moves', value: String(moves) },
      { name: 'plays', value: String(plays) },
      ...(best ? [{ name: 'shortest schedule', value: movesOf(best.schedule) }] : []),
      ...(leftOut.length > 0 ? [{ name: 'left out later', value: leftOut.join(', ') }] : []),
      ...(entry ? [{ name: 'nearest catalogue entry', value: `${entry.id}: ${entry.title}` }] : []),
    ],
    findings,
    tried: { moves, plays },
    ...(best &&
      !isByItself(best) &&
      target && {
        fuzzed: {
          schedule: best.schedule,
          scenario: scenarioText(best.schedule, best.failure, {
            ...order,
            line: line.name,
            target,
            polls,
          }),
          first: best.since + 1,
          last: best.last,
          ...(entry && { nearest: entry.id }),
        },
      }),
    versions: versions(),
  };
}

/** Makes the finding for a failure. @param number counts the failures from 1 */
export function findingOf(fuzzed: SeenFailure, number: number): Finding {
  const { schedule, met, failure, plays, frames } = fuzzed;
  const [first = ''] = failure.text.split('\n');
  const again = isShown(fuzzed) || plays.played < NEEDED ? '' : ', and not reproduced';
  const played = `${movesText(schedule, met)} (seen in ${playsText(plays)}${again})`;
  const how = isByItself(fuzzed)
    ? `without any move (first seen after ${movesOf(schedule)})`
    : `moves: ${played}`;
  return {
    id: String(number),
    title: `The client ${first}${isByItself(fuzzed) ? ', on its own' : ''}`,
    verdict: isShown(fuzzed) ? 'fail' : 'inconclusive',
    summary: `${failure.text === first ? '' : `${failure.text}\n`}${capital(how)}`,
    ...(isShown(fuzzed) && { conclusion: `${first}; ${how}` }),
    confidence: { agreeing: plays.failed, trials: plays.played },
    frames,
    durationMs: Math.max(0, (frames.at(-1)?.at ?? 0) - (frames[0]?.at ?? 0)),
    about: {
      group: 'fuzz',
      does: 'Disturbs the client with random moves until it fails, then looks for the fewest and simplest moves that reproduce the failure.',
      matters: 'Devices, adapters and networks cause such disturbances one after another.',
      rule: RULE,
      fix: 'Play the moves again with --replay, or run the scenario, until the client returns to its usual polls.',
      source:
        'No specification allows a client to exit, fall silent or poll endlessly because of bytes it received.',
    },
  };
}

/** True for a failure that was reproduced. */
function isShown({ plays }: SeenFailure): boolean {
  return plays.failed >= NEEDED;
}

/** True for a failure that happens without any move. */
function isByItself({ without }: SeenFailure): boolean {
  return (without?.failed ?? 0) >= NEEDED;
}

function playsText({ failed, played }: Plays): string {
  return `${failed} of ${played} plays`;
}

function verdictOf(
  { refusal, isOver, isStopped }: WatchedClient['course'],
  { seen, moves }: KnownByNow,
): Verdict {
  if (refusal !== undefined) return 'error';
  if (seen.some(isShown)) return 'fail';
  if (seen.length > 0 || moves < FEWEST_MOVES) return isOver || seen.length > 0 ? 'inconclusive' : 'not run';
  return isStopped ? 'inconclusive' : 'pass';
}

function triedText({ moves, plays }: KnownByNow, isOver: boolean): string {
  const tried = `${moves} moves in ${plays} plays`;
  return isOver ? `the client returned to its usual polls after each of ${tried}` : `${tried} so far`;
}

/** Says what the client did, and after what. */
function conclusionOf(seen: SeenFailure): string {
  const { failure, schedule, met, plays, without } = seen;
  const [first = ''] = failure.text.split('\n');
  if (without && isByItself(seen))
    return `the client ${first} on its own, without any move, in ${playsText(without)}`;
  const often = `in ${playsText(plays)}${isShown(seen) ? '' : ', so it was not reproduced'}`;
  return `the client ${first} after ${movesOf(schedule)}, ${often}: ${movesText(schedule, met)}`;
}

function movesOf({ length }: Schedule): string {
  return length === 1 ? 'one move' : `${length} moves`;
}
