import { compact } from '../../../common/compact.js';
import { failure, type Result, success } from '../../../common/result.js';
import type { ApiOverrides } from '../../../document/api-definition.js';
import type { ConfigurationSource } from '../../../document/load.js';
import { command } from './scan.js';
import { JSON_OPTION, option, SOURCE_OPTIONS, sourceOf } from './values.js';

/** Measure what a line achieves on this machine. */
export interface MeasureCommand {
  readonly kind: 'measure';
  readonly line: string;
  readonly source: ConfigurationSource;
  readonly api: ApiOverrides;
  /** Longest time to wait for requests, in s. */
  readonly seconds: number;
  readonly asJson?: boolean;
}

const DEFAULT_SECONDS = 10;
const MAX_SECONDS = 3600;

export const MEASURE = command({
  name: 'measure',
  words: 'LINE',
  summary: 'measure what a line achieves on this machine',
  details:
    'LINE is a line of the demo or of --config FILE. Exit 1 if the line performs worse than configured, 2 if it could not be measured.',
  examples: ['measure bench --config bench.yaml'],
  options: {
    ...SOURCE_OPTIONS,
    ...JSON_OPTION,
    seconds: option(
      'N',
      `how long to wait for requests on a real bus (default ${DEFAULT_SECONDS})`,
      `a number from 1 to ${MAX_SECONDS}`,
      (text) => (Number(text) >= 1 && Number(text) <= MAX_SECONDS ? Number(text) : undefined),
    ),
  },
  parse({ values, words: [line, ...more] }): Result<MeasureCommand> {
    if (line === undefined || more.length > 0) return failure('measure takes the name of one line');
    const source = sourceOf(values);
    if (!source.ok) return source;
    const { seconds = DEFAULT_SECONDS, json: asJson } = values;
    // REST is not opened, so no token is needed.
    const api = { httpHost: '127.0.0.1' };
    return success({ kind: 'measure', line, source: source.value, api, seconds, ...compact({ asJson }) });
  },
});
