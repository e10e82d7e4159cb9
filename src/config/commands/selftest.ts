import { quote } from '../../schema/problem.js';
import type { ApiOverrides } from '../api-definition.js';
import type { ConfigurationSource } from '../load.js';
import type { Given } from './scan.js';
import { SOURCE_OPTIONS, sourceOf } from './source.js';

/** Measure what a line achieves on this machine. */
export interface SelftestCommand {
  readonly kind: 'selftest';
  readonly line: string;
  readonly source: ConfigurationSource;
  readonly api: ApiOverrides;
  /** How long to wait for requests, in s. */
  readonly seconds: number;
}

export const SELFTEST_OPTIONS = { ...SOURCE_OPTIONS, seconds: { type: 'string' } } as const;

const DEFAULT_SECONDS = 10;
const MAX_SECONDS = 3600;

/** @returns what is wrong, as a sentence */
export function parseSelftest(given: Given<keyof typeof SELFTEST_OPTIONS>): SelftestCommand | string {
  const { values } = given;
  const [line, ...more] = given.words;
  if (line === undefined || more.length > 0) return 'selftest takes the name of one line';
  const source = sourceOf(values);
  if (typeof source === 'string') return source;
  const seconds = values.seconds === undefined ? DEFAULT_SECONDS : Number(values.seconds);
  if (!(seconds >= 1 && seconds <= MAX_SECONDS)) {
    return `--seconds: expected a number from 1 to ${MAX_SECONDS}, got ${quote(values.seconds ?? '')}`;
  }
  // REST is not opened, so it needs no token.
  return { kind: 'selftest', line, source, api: { httpHost: '127.0.0.1' }, seconds };
}
