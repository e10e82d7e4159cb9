import { quote } from '../../schema/problem.js';
import { compact } from '../compact.js';
import type { Given } from './scan.js';
import { DEFAULT_URL, REMOTE_OPTIONS, urlProblem } from './values.js';

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

export const MONITOR_OPTIONS = {
  line: { type: 'string' },
  unit: { type: 'string' },
  function: { type: 'string' },
  hex: { type: 'boolean' },
  ...REMOTE_OPTIONS,
} as const;

/** @returns what is wrong, as a sentence */
export function parseMonitor(given: Given<keyof typeof MONITOR_OPTIONS>): MonitorCommand | string {
  const [word] = given.words;
  if (word !== undefined) return `monitor takes options only, got ${quote(word)}`;
  const { line, unit, function: functions, hex, url = DEFAULT_URL, token = given.token } = given.values;
  const problem = urlProblem(url);
  if (problem !== undefined) return problem;
  return compact({
    kind: 'monitor' as const,
    url,
    token,
    filters: compact({ line, unit, function: functions }),
    hex: hex !== undefined,
  });
}
