import type { Simulator } from '../../simulator/simulator.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import { configurationText } from '../../simulator/written/written-configuration.js';
import type { Question } from '../examine/heard/exchange.js';
import type { Finding, Report, Verdict } from '../report/report.js';
import { versions } from '../report/report.js';
import { sentence } from '../scenario/words.js';
import { scenarioText } from './as-scenario.js';
import { movesText, type Schedule } from './move.js';
import { nearestEntry } from './nearest.js';
import type { ClientFailure } from './play.js';
import type { ShakeOrder } from './shake-order.js';
import { NEEDED, type Plays } from './shrink.js';

/** A failure of the client, and the shortest schedule so far that shows it. */
export interface SeenFailure {
  readonly schedule: Schedule;
  readonly failure: ClientFailure;
  readonly plays: Plays;
  /** Plays as long as the shortest schedule, without its moves; undefined when there were none. */
  readonly without?: Plays;
  /** The events of the newest play in which the client failed. */
  readonly frames: readonly TrafficEvent[];
  /** Sequence numbers of the last event before that play, and of its last one. */
  readonly since: number;
  readonly last: number;
}

interface KnownByNow extends Pick<Report, 'startedAt' | 'durationMs'> {
  readonly isOver: boolean;
  /** Why it ended before a failure was shrunk, as a part of a sentence. */
  readonly whyEnded: string | undefined;
  /** Why it could not begin, as a sentence. */
  readonly refusal: string | undefined;
  /** Why nothing more could be played, as a sentence. */
  readonly fate: string | undefined;
  readonly moves: number;
  readonly plays: number;
  readonly seen: readonly SeenFailure[];
  readonly target: Question | undefined;
  readonly questions: readonly Question[];
}

/** Fewer moves than these have shown nothing. */
const FEWEST_MOVES = 10;

const RULE = `Fails when the client ends, asks nothing more, asks without end, sends bytes that are no request, has a value that \
no reply carried, or does not come back to its usual round, in ${NEEDED} of 3 plays of the same moves; inconclusive when that was seen once and could not be shown again.`;

/** Makes the report on what is known by now. */
export function shakeReport(order: ShakeOrder, bench: Simulator, known: KnownByNow): Report {
  const { line, seed, about } = order;
  const { startedAt, durationMs, refusal, fate, seen, whyEnded, moves, plays, target, questions } = known;
  const findings = seen.map((each, i) => findingOf(each, i + 1));
  const best = seen.find(isShown) ?? seen[0];
  const conclusions = [
    refusal ?? conclusionOf(known, best),
    fate,
    refusal === undefined && best ? whyEnded : undefined,
  ];
  const entry = best && nearestEntry(best.schedule);
  return {
    kind: 'shake',
    name: `the client on line ${line.name}, shaken`,
    startedAt,
    durationMs,
    verdict: verdictOf(known),
    line: line.name,
    seed,
    ...(about && { about }),
    conclusions: conclusions.flatMap((text) => (text === undefined || text === '' ? [] : sentence(text))),
    parameters: [
      { name: 'moves', value: String(moves) },
      { name: 'plays', value: String(plays) },
      ...(best ? [{ name: 'shortest schedule', value: movesOf(best.schedule) }] : []),
      ...(entry ? [{ name: 'nearest entry of the catalogue', value: `${entry.id}: ${entry.title}` }] : []),
    ],
    findings,
    tried: { moves, plays },
    ...(best &&
      target && {
        shaken: {
          schedule: best.schedule,
          scenario: scenarioText(best.schedule, best.failure, {
            ...order,
            line: line.name,
            target,
            questions,
          }),
          first: best.since + 1,
          last: best.last,
          ...(entry && { nearest: entry.id }),
        },
      }),
    // The configuration may be long, and not every reader of a report wants it.
    get configuration() {
      return [...configurationText(bench.running)].join('');
    },
    versions: versions(),
  };
}

/** Makes the finding on a failure. @param number counts the failures from 1 */
export function findingOf(shaken: SeenFailure, number: number): Finding {
  const { schedule, failure, plays, frames } = shaken;
  const [first = ''] = failure.text.split('\n');
  const seen = `seen in ${plays.failed} of ${plays.played} plays`;
  const again = isShown(shaken) || plays.played < NEEDED ? '' : whyNotShown(shaken);
  return {
    id: String(number),
    title: `The client ${first}`,
    verdict: isShown(shaken) ? 'fail' : 'inconclusive',
    summary: `${failure.text === first ? '' : `${failure.text}\n`}Moves: ${movesText(schedule)} (${seen}${again})`,
    ...(isShown(shaken) && { conclusion: `${first}; moves: ${movesText(schedule)}` }),
    confidence: { agreeing: plays.failed, trials: plays.played },
    frames,
    durationMs: Math.max(0, (frames.at(-1)?.at ?? 0) - (frames[0]?.at ?? 0)),
    about: {
      group: 'shake',
      does: 'Does random things to the client, one after the other, until it fails, and looks for the fewest and simplest that show it again.',
      matters: 'Devices, adapters and networks do such things, one after the other.',
      rule: RULE,
      fix: 'Play the moves again with --replay, or run the scenario, until the client comes back to its usual round.',
      source:
        'No specification allows a client to end, to fall silent, or to ask without end because of what it has received.',
    },
  };
}

/** True for a failure that was seen again, and that the moves have brought about. */
function isShown({ plays, without }: SeenFailure): boolean {
  return plays.failed >= NEEDED && (without?.failed ?? 0) < NEEDED;
}

/** Why a failure says nothing about the moves, as a part of a sentence. */
function whyNotShown({ plays, without }: SeenFailure): string {
  return without && plays.failed >= NEEDED
    ? `, and in ${without.failed} of ${without.played} without any move`
    : ', and not shown again';
}

function verdictOf({ refusal, seen, isOver, moves }: KnownByNow): Verdict {
  if (refusal !== undefined) return 'error';
  if (seen.some(isShown)) return 'fail';
  if (seen.length > 0 || moves < FEWEST_MOVES) return isOver || seen.length > 0 ? 'inconclusive' : 'not run';
  return 'pass';
}

function conclusionOf({ moves, plays, isOver }: KnownByNow, best: SeenFailure | undefined): string {
  const tried = `${moves} moves in ${plays} plays`;
  if (!best)
    return isOver ? `the client came back to its usual round after each of ${tried}` : `${tried} so far`;
  const { failure, schedule, plays: shown } = best;
  const [first = ''] = failure.text.split('\n');
  const often = isShown(best)
    ? `in ${shown.failed} of ${shown.played} plays`
    : `in ${shown.failed} of ${shown.played} plays${best.without ? whyNotShown(best) : ', which does not show it again'}`;
  return `the client ${first} after ${movesOf(schedule)}, ${often}: ${movesText(schedule)}`;
}

function movesOf({ length }: Schedule): string {
  return length === 1 ? 'one move' : `${length} moves`;
}
