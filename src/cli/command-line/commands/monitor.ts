import { compact } from '../../../common/compact.js';
import { type Result, success } from '../../../common/result.js';
import { command } from './scan.js';
import { DEFAULT_URL, flag, JSON_OPTION, numberFrom, REMOTE_OPTIONS, text } from './values.js';

/** Print the traffic of a running simulator's lines. */
export interface MonitorCommand {
  readonly kind: 'monitor';
  /** URL of the REST interface of the simulator. */
  readonly url: string;
  readonly token?: string;
  /** Filters in the form of `GET /api/v1/events`, which checks them. */
  readonly filters: Readonly<
    Partial<Record<'filter' | 'line' | 'unit' | 'function' | 'rule' | 'problems', string>>
  >;
  /** How many of the newest stored events are printed first. */
  readonly last?: number;
  /** Whether the bytes of each event are shown as well. */
  readonly hex: boolean;
  /** Whether each event is printed as a line of JSON. */
  readonly asJson?: boolean;
}

/** The maximum number of events in an answer from `GET /api/v1/traffic`. */
const MOST_LAST = 100_000;

export const MONITOR = command({
  name: 'monitor',
  words: '[FILTER]',
  summary: 'print the traffic of a running simulator, one line per frame',
  details: `The simulator is at ${DEFAULT_URL} unless --url says otherwise. FILTER selects frames, such as unit=1,5-9 fc=3 addr=0-9 not rule:slow 'late>50ms': docs/filter.md lists all fields. Each option tests one field: separate several names or numbers with commas, and write ranges of numbers as 1-9.`,
  examples: ["monitor unit=1 exception or 'late>50ms'", 'monitor --line bench --problems --hex'],
  options: {
    line: text('NAME', 'only frames on this line'),
    unit: text('N', 'only frames to or from this unit'),
    function: text('N', 'only frames with this function code'),
    rule: text('NAME', 'only frames on which this fault rule acted'),
    problems: flag(
      'only problems: damaged frames, exceptions, replies that are missing or changed by a fault',
    ),
    last: numberFrom('N', 'begin with the last N recorded frames', 'a number', [1, MOST_LAST]),
    hex: flag('also print the bytes'),
    json: { ...JSON_OPTION.json, help: 'print each event as one line of JSON, for programs' },
    ...REMOTE_OPTIONS,
  },
  parse({ words, values, token: tokenInEnvironment }): Result<MonitorCommand> {
    const { line, unit, function: code, rule, problems, last, hex = false, json: asJson } = values;
    const { url = DEFAULT_URL, token = tokenInEnvironment } = values;
    const filter = words.length === 0 ? undefined : words.join(' ');
    const filters = compact({
      filter,
      line,
      unit,
      function: code,
      rule,
      problems: problems ? 'true' : undefined,
    });
    return success(compact({ kind: 'monitor' as const, url, token, filters, last, hex, asJson }));
  },
});
