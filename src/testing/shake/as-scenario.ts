import { addressRanges } from '../../modbus/protocol/pdu.js';
import type { Question } from '../examine/heard/exchange.js';
import { unevenText } from '../examine/heard/watching.js';
import { spanOf, usualTimes } from '../times.js';
import { flow, movesText, moveText, type Schedule } from './move.js';
import type { ClientFailure } from './play.js';

/** What a scenario needs to know of the bench and the client, apart from the schedule. */
interface Bench {
  readonly line: string;
  readonly seed: number;
  /** `configuration` and `dut` of the scenario. */
  readonly bench?: object | undefined;
  readonly target: Question;
  readonly questions: readonly Question[];
}

/** How long the client has for its usual round, in ms and in poll periods. */
const BACK_MS = 60_000;
const BACK_PERIODS = 20;
/** How long it is watched afterwards, in poll periods and in ms. */
const WATCHED_PERIODS = 5;
const ENDLESS_MS = 3_000;
/** How long the client may take until it polls in its rhythm, in ms. */
const SETTLED_MS = 10_000;
/** Asking more often than this many times as usual is too often. */
const ENDLESS = 5;
const LEAST_REQUESTS = 20;

/**
 * Writes the scenario that `test` runs: it fails on a client that fails on the schedule, and passes on one that comes back
 * to its usual round.
 */
export function scenarioText(schedule: Schedule, { kind, text }: ClientFailure, about: Bench): string {
  const { line, seed, bench, target, questions } = about;
  const periodMs = Math.max(1, Math.round(target.periodMs ?? 0));
  const polled = flow(askedFor(target));
  const back = Math.max(BACK_MS, BACK_PERIODS * periodMs);
  const watched = Math.max(ENDLESS_MS, WATCHED_PERIODS * periodMs);
  const regular = questions.filter((each) => each.asked.length * 2 >= target.asked.length);
  const tooOften = Math.max(LEAST_REQUESTS, Math.ceil((ENDLESS * watched * regular.length) / periodMs));
  const isEven = unevenText(target) === undefined;
  const slack = Math.round(Math.max(periodMs / 2, 2 * spanOf(usualTimes(target.intervals)), 100));
  const waits = (requests: number) =>
    kind === 'endless' ? `wait: ${watched}ms` : `wait: {requests: ${requests}}`;
  const steps = [
    `- name: it polls
    expect: [${polled}, {same: true, times: {min: 3}}]
    within: ${back}ms`,
    ...schedule.flatMap((move) => {
      const { power } = move.does as { power?: Readonly<Record<string, unknown>> };
      const on = power && Object.fromEntries(Object.keys(power).map((name) => [name, 'on']));
      return [
        ...(move.after > 0 ? [`- wait: {requests: ${move.after}}`] : []),
        `- name: ${JSON.stringify(moveText(move))}
${Object.entries(move.does)
  .map(([key, content]) => `    ${key}: ${flow(content)}\n`)
  .join('')}    ${waits(move.requests)}`,
        ...(on ? [`- power: ${flow(on)}`] : []),
      ];
    }),
    ...regular.map(
      (each) => `- name: ${JSON.stringify(`it asks ${each.text} again, and gets its reply`)}
    expect: {${flow(askedFor(each)).slice(1, -1)}, response: ok, times: {min: 3}}
    within: ${back}ms`,
    ),
    ...(kind === 'endless'
      ? [
          `- name: it does not ask without end\n    never: {line: ${flow(line)}, times: ${tooOften}}\n    within: ${watched}ms`,
        ]
      : []),
    ...(kind === 'astray' && isEven
      ? [
          `- wait: ${SETTLED_MS}ms`,
          `- name: it polls as before\n    expect: {${flow(askedFor(target)).slice(1, -1)}, every: ${periodMs}ms, tolerance: ${slack}ms, for: ${watched}ms}\n    within: ${back}ms`,
        ]
      : []),
  ];
  const head = [
    `# The client ${text.split('\n')[0]}.`,
    ...(kind === 'value' || kind === 'bytes'
      ? ['# A scenario can not see that: it shows the moves. `shake --replay` plays them and looks.']
      : []),
    `name: ${JSON.stringify(movesText(schedule))}`,
    `line: ${flow(line)}`,
    `seed: ${seed}`,
    ...Object.entries(bench ?? {}).map(([key, content]) => `${key}: ${flow(content)}`),
    'steps:',
  ];
  return `${[...head, ...steps.map((step) => `  ${step}`)].join('\n')}\n`;
}

/** The conditions that a question fulfils. */
function askedFor({ unitId, functionCode, pdu }: Question): object {
  const [range] = addressRanges(pdu);
  return { unit: unitId, function: functionCode, ...(range && { address: range.address }) };
}
