import { compact } from '../../../common/compact.js';
import { MAX_SEED } from '../../../common/random.js';
import { failure, success } from '../../../common/result.js';
import type { ConfigurationSource } from '../../../files/config/load.js';
import type { WrittenObserver } from '../../../testing/examine/observer.js';
import { CLIENT_OPTIONS, OBSERVER_OPTIONS, observerOf, remoteProblem } from './examine.js';
import { command } from './scan.js';
import {
  numberFrom,
  REMOTE_OPTIONS,
  REPORT_OPTIONS,
  type Reports,
  reportsOf,
  sourceOf,
  text,
  timeFrom,
} from './values.js';

/** Find what breaks a client. */
export interface ShakeCommand extends Reports {
  readonly kind: 'shake';
  readonly line: string;
  readonly source: ConfigurationSource;
  /** Unit id; only requests to this unit are disturbed. */
  readonly unitId?: number;
  /** Longest duration in ms; the default when absent. */
  readonly limitMs?: number;
  /** How many moves are tried at most; without a limit when absent. */
  readonly mostMoves?: number;
  /** Seed of the moves; drawn when absent. */
  readonly seed?: number;
  /** Path of a report with a schedule that is played in place of drawn ones. */
  readonly replay?: string;
  /** Where the scenario, and the traffic of the failure, are written. */
  readonly scenario?: string;
  readonly capture?: string;
  /** The command line that starts the client. */
  readonly dut?: string;
  readonly observer: WrittenObserver;
  /** URL of REST of a simulator that already runs; undefined for one of its own. */
  readonly url?: string;
  readonly token?: string;
}

const SHORTEST_LIMIT_MS = 1000;
const LONGEST_LIMIT_MS = 86_400_000;
const MOST_MOVES = 1_000_000;

export const SHAKE = command({
  name: 'shake',
  words: 'LINE',
  summary: 'do random things to the client of a line until it fails, and find the shortest proof',
  details:
    'The line is one of the demo, of --config FILE, or of a simulator that runs already (--url). With --dut the client is started again when it has failed, which shrinking needs. Exit 1 if a failure was shown in two of three plays, 2 if nobody polls.',
  options: {
    ...CLIENT_OPTIONS,
    unit: numberFrom('N', 'disturb only questions to this unit', 'a unit identifier', [0, 255]),
    limit: timeFrom('take no longer than this (default 30m)', 'a time from 1s to 24h, such as 30m', [
      SHORTEST_LIMIT_MS,
      LONGEST_LIMIT_MS,
    ]),
    moves: numberFrom('N', 'try no more moves than this', 'a whole number', [1, MOST_MOVES]),
    seed: numberFrom('N', 'of the moves; the same seed tries the same', 'a whole number', [0, MAX_SEED]),
    replay: text('FILE', 'play the schedule of this report (--json) instead'),
    scenario: text('FILE', 'write the shortest schedule as a scenario for the command test'),
    capture: text('FILE', 'write the traffic of the failure (pcapng)'),
    ...REPORT_OPTIONS,
    ...REMOTE_OPTIONS,
    ...OBSERVER_OPTIONS,
  },
  parse({ values, words, token }) {
    const [line, ...more] = words;
    if (line === undefined || more.length > 0) return failure('shake takes the name of one line');
    const remote = remoteProblem(values);
    if (remote !== undefined) return failure(remote);
    if (values.url !== undefined && values.capture !== undefined)
      return failure("--capture can't be used with --url; the simulator there has its traffic");
    const source = sourceOf(values);
    if (!source.ok) return source;
    const {
      unit: unitId,
      limit: limitMs,
      moves: mostMoves,
      seed,
      replay,
      scenario,
      capture,
      dut,
      url,
    } = values;
    const shake: ShakeCommand = {
      kind: 'shake',
      line,
      source: source.value,
      observer: observerOf(values),
      ...reportsOf(values),
      ...compact({ unitId, limitMs, mostMoves, seed, replay, scenario, capture, dut, url }),
      ...(url !== undefined && compact({ token: values.token ?? token })),
    };
    return success(shake);
  },
});
