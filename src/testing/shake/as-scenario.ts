import { addressRanges } from '../../modbus/protocol/pdu.js';
import { flow } from '../../simulator/written/flow.js';
import type { Question } from '../examine/heard/exchange.js';
import { unevenText } from '../examine/heard/watching.js';
import { spanOf, usualTimes } from '../times.js';
import { type Move, movesText, moveText, type Schedule } from './move.js';
import type { ClientFailure } from './play.js';

/** What a scenario needs to know of the bench and the client, apart from the schedule. */
interface Shown {
  readonly line: string;
  readonly seed: number;
  /** `configuration` and `dut` of the scenario. */
  readonly bench?: object | undefined;
  readonly target: Question;
  readonly questions: readonly Question[];
}

/** Steps as a scenario writes them. */
type WrittenSteps = readonly object[];

/** How long the client has for its usual round, in ms and in poll periods. */
const BACK_MS = 60_000;
const BACK_PERIODS = 20;
/** How long it may take until it polls in its rhythm, in ms. */
const SETTLED_MS = 10_000;
/** How long its rhythm is watched, in poll periods and in ms. */
const WATCHED_PERIODS = 5;
const WATCHED_MS = 3_000;
/** By how much its rhythm may vary: by this fraction of the period, or this many ms. */
const SLACK = 0.5;
const SLACK_MS = 100;
/** Asking more often than this many times as usual is too often. */
const ENDLESS = 5;
const LEAST_REQUESTS = 20;

/**
 * Writes the scenario that `test` runs, in YAML: it fails on a client that fails on the schedule, and passes on one that
 * comes back to its usual round.
 */
export function scenarioText(schedule: Schedule, { kind, text }: ClientFailure, shown: Shown): string {
  const { line, seed, bench, target, questions } = shown;
  const periodMs = Math.max(1, Math.round(target.periodMs ?? 0));
  const within = Math.max(BACK_MS, BACK_PERIODS * periodMs);
  const watched = Math.max(WATCHED_MS, WATCHED_PERIODS * periodMs);
  const regular = questions.filter((each) => each.asked.length * 2 >= target.asked.length);
  const isEndless = kind === 'endless';
  const tooOften = Math.ceil((ENDLESS * watched * regular.length) / periodMs);
  const calm = { never: { times: Math.max(LEAST_REQUESTS, tooOften) } };
  const isSeen = kind !== 'value' && kind !== 'bytes';
  const lines = [
    `# The client ${text.split('\n')[0]}.`,
    ...(isSeen
      ? []
      : ['# A scenario does not see that. shake --replay plays the same moves, and looks for it.']),
    ...Object.entries({ name: movesText(schedule), line, seed, ...bench }).map(entryText),
    'steps:',
  ];
  const steps: WrittenSteps = [
    {
      name: 'it polls',
      expect: [askedFor(target), { same: true, times: { min: 3 } }],
      within,
    },
    ...schedule.flatMap((move) =>
      stepsOf(move, isEndless ? { wait: watched, ...calm } : { wait: { requests: move.requests } }),
    ),
    ...regular.map((each) => ({
      name: `it gets its reply to ${each.text}`,
      expect: { ...askedFor(each), response: 'ok', times: { min: 3 } },
      within,
    })),
    ...(isEndless ? [{ name: 'it does not ask without end', ...calm, within: watched }] : []),
    ...(kind === 'astray' ? rhythm(target, watched, within) : []),
  ];
  return `${[...lines, ...steps.map(stepText)].join('\n')}\n`;
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

/** The steps that fail on a client that polls in another rhythm; none for one that never had a rhythm. */
function rhythm(target: Question, watched: number, within: number): WrittenSteps {
  if (unevenText(target) !== undefined) return [];
  const every = Math.round(target.periodMs ?? 0);
  const spread = spanOf(usualTimes(target.intervals));
  const tolerance = Math.round(Math.max(SLACK * every, 2 * spread, SLACK_MS));
  return [
    { wait: SETTLED_MS },
    { name: 'it polls as before', expect: { ...askedFor(target), every, tolerance, for: watched }, within },
  ];
}

/** The conditions that a question fulfils. */
function askedFor({ unitId, functionCode, pdu }: Question): object {
  const [range] = addressRanges(pdu);
  return { unit: unitId, function: functionCode, ...(range && { address: range.address }) };
}

function stepText(step: object): string {
  return `  - ${Object.entries(step).map(entryText).join('\n    ')}`;
}

function entryText([key, content]: [string, unknown]): string {
  return `${key}: ${flow(content)}`;
}
