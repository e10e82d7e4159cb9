import { compact } from '../../../common/compact.js';
import { failure, type Result, success } from '../../../common/result.js';
import { quote } from '../../../common/schema/problem.js';
import { command } from './scan.js';
import { DEFAULT_URL, flag, REMOTE_OPTIONS, text } from './values.js';

/** Print what passes the lines of a running simulator. */
export interface MonitorCommand {
  readonly kind: 'monitor';
  /** URL of the REST interface of the simulator. */
  readonly url: string;
  readonly token?: string;
  /** Filters in the form of `GET /api/v1/events`, which checks them. */
  readonly filters: Readonly<Partial<Record<'line' | 'unit' | 'function', string>>>;
  /** Whether the bytes of each event are shown, too. */
  readonly hex: boolean;
}

export const MONITOR = command({
  name: 'monitor',
  words: '',
  summary: 'print what passes the lines of a running simulator, one line a frame',
  details: `The simulator is at ${DEFAULT_URL} unless --url says otherwise. Several names and numbers are written with commas, and numbers as ranges such as 1-9.`,
  options: {
    line: text('NAME', 'only frames of this line'),
    unit: text('N', 'only frames to or from this unit'),
    function: text('N', 'only frames with this function code'),
    hex: flag('with the bytes'),
    ...REMOTE_OPTIONS,
  },
  parse({ words: [word], values, token: tokenInEnvironment }): Result<MonitorCommand> {
    if (word !== undefined) return failure(`monitor takes options only, got ${quote(word)}`);
    const { line, unit, function: code, hex = false } = values;
    const { url = DEFAULT_URL, token = tokenInEnvironment } = values;
    const filters = compact({ line, unit, function: code });
    return success(compact({ kind: 'monitor' as const, url, token, filters, hex }));
  },
});
