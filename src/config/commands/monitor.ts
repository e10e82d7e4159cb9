import { quote } from '../../schema/problem.js';
import { compact } from '../compact.js';
import { command } from './scan.js';
import { DEFAULT_URL, FLAG, REMOTE_OPTIONS, TEXT } from './values.js';

/** Print what passes the lines of a running simulator. */
export interface MonitorCommand {
  readonly kind: 'monitor';
  /** Where the REST interface of the simulator is. */
  readonly url: string;
  readonly token?: string;
  /** As `GET /api/v1/events` takes them, which checks them. */
  readonly filters: Readonly<Partial<Record<'line' | 'unit' | 'function', string>>>;
  /** Whether the bytes are shown, too. */
  readonly hex: boolean;
}

export const MONITOR = command({
  name: 'monitor',
  options: { line: TEXT, unit: TEXT, function: TEXT, hex: FLAG, ...REMOTE_OPTIONS },
  parse({ words: [word], values, token: tokenInEnvironment }): MonitorCommand | string {
    if (word !== undefined) return `monitor takes options only, got ${quote(word)}`;
    const { line, unit, function: code, hex = false } = values;
    const { url = DEFAULT_URL, token = tokenInEnvironment } = values;
    const filters = compact({ line, unit, function: code });
    return compact({ kind: 'monitor' as const, url, token, filters, hex });
  },
});
