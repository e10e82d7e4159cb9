import { compact } from '../../../common/compact.js';
import { MAX_SEED } from '../../../common/random.js';
import { failure, success } from '../../../common/result.js';
import { command } from './scan.js';
import {
  CLIENT_OPTIONS,
  type ClientWanted,
  clientWanted,
  LIMITS_MS,
  OBSERVER_OPTIONS,
  ORDER_OPTIONS,
} from './test-client.js';
import { names, numberFrom, REMOTE_OPTIONS, REPORT_OPTIONS, text, timeFrom } from './values.js';

export interface FuzzCommand extends ClientWanted {
  readonly kind: 'fuzz';
  /** Maximum number of moves to try; no limit when absent. */
  readonly mostMoves?: number;
  /** Kinds of moves to leave out. */
  readonly except?: readonly string[];
  /** Path of a report whose schedule is played instead of a random one. */
  readonly replay?: string;
  /** Where the scenario and the traffic of the failure are written. */
  readonly scenario?: string;
  readonly capture?: string;
}

const MOST_MOVES = 1_000_000;

export const FUZZ = command({
  name: 'fuzz',
  words: 'LINE',
  summary: 'disturb a client at random, and find the shortest schedule that makes it fail',
  details:
    'LINE is a line of the demo, of --config FILE, or of a running simulator (--url). With --dut the client is restarted after each failure, which is needed to find a shorter schedule. Exit 1 if the failure occurs in two of three plays, 2 if no client polls.',
  examples: ['fuzz bench --config bench.yaml --limit 10m --scenario found.yaml'],
  options: {
    ...CLIENT_OPTIONS,
    unit: ORDER_OPTIONS.unit,
    limit: timeFrom('stop after this time (default 30m)', 'a time from 1s to 24h, such as 30m', LIMITS_MS),
    moves: numberFrom('N', 'try at most this many moves', 'a whole number', [1, MOST_MOVES]),
    seed: numberFrom('N', 'random seed; the same seed gives the same moves', 'a whole number', [0, MAX_SEED]),
    except: names(
      'KIND,...',
      'leave out moves that the client is known not to tolerate: kinds of faults, keys of manners, power, closed, unsolicited, catalogue',
      'kinds of moves',
    ),
    replay: text('FILE', 'replay the schedule in this report (--json) instead'),
    scenario: text('FILE', 'write the shortest schedule as a scenario for the command test'),
    capture: text('FILE', 'write the traffic recorded during the failure (pcapng)'),
    ...REPORT_OPTIONS,
    ...REMOTE_OPTIONS,
    ...OBSERVER_OPTIONS,
  },
  parse(given) {
    const client = clientWanted('fuzz', given);
    if (!client.ok) return client;
    const { url, moves: mostMoves, except, replay, scenario, capture } = given.values;
    if (url !== undefined && capture !== undefined)
      return failure("--capture can't be used with --url: the traffic is in that simulator");
    const fuzz: FuzzCommand = {
      kind: 'fuzz',
      ...client.value,
      ...compact({ mostMoves, except, replay, scenario, capture }),
    };
    return success(fuzz);
  },
});
