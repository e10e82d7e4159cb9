import { parseArgs } from 'node:util';
import { MAX_SEED } from '../random.js';
import { duration } from '../schema/duration.js';
import { quote } from '../schema/problem.js';
import { compact } from './compact.js';
import type { ConfigurationSource } from './load.js';

/** What the user asks of `modbus-sim examine`. */
export type ExamineRequest =
  | { readonly what: 'list' }
  | {
      readonly what: 'examine';
      readonly line: string;
      readonly source: ConfigurationSource;
      /** Only questions to this unit are disturbed. */
      readonly unitId?: number;
      /** Identifiers and groups; all checks when empty. */
      readonly checks: readonly string[];
      readonly limitMs: number;
      /** Drawn when absent. */
      readonly seed?: number;
      /** The command that starts the client. */
      readonly dut?: string;
      /** What was written of a witness; empty when there is none. */
      readonly witness: WrittenWitness;
      /** REST of a simulator that runs already; without it, the examination has a bench of its own. */
      readonly url?: string;
      readonly token?: string;
      /** Where reports are written; absent reports are not. */
      readonly junit?: string;
      readonly html?: string;
      readonly json?: string;
    };

/** The examination that a user asks for. */
export type ExaminationWanted = Extract<ExamineRequest, { what: 'examine' }>;

/** The options `--witness-…`, as they were written. */
interface WrittenWitness {
  readonly register?: string;
  readonly url?: string;
  readonly path?: string;
  readonly command?: string;
}

const OPTIONS = {
  config: { type: 'string' },
  unit: { type: 'string' },
  checks: { type: 'string' },
  limit: { type: 'string' },
  seed: { type: 'string' },
  dut: { type: 'string' },
  junit: { type: 'string' },
  html: { type: 'string' },
  json: { type: 'string' },
  url: { type: 'string' },
  token: { type: 'string' },
  'witness-register': { type: 'string' },
  'witness-url': { type: 'string' },
  'witness-path': { type: 'string' },
  'witness-command': { type: 'string' },
  list: { type: 'boolean' },
} as const;

const DEFAULT_LIMIT_MS = 600_000;
const LIMIT = 'a time from 1s to 24h, such as 10m';
const limitSchema = duration(1000, 86_400_000, LIMIT);
const MAX_UNIT = 255;

/**
 * Understands the arguments behind `examine`.
 * @param token of REST, where `--token` does not say it
 * @returns what is wrong, as a sentence
 */
export function parseExamine(args: readonly string[], token: string | undefined): ExamineRequest | string {
  const parsed = parse(args);
  if (typeof parsed === 'string') return parsed;
  const { values, positionals } = parsed;
  if (values.list) return { what: 'list' };
  const [line, ...more] = positionals;
  if (line === undefined || more.length > 0) return 'examine takes the name of one line';
  const empty = Object.entries(values).find(([, value]) => value === '');
  if (empty) return `--${empty[0]} needs a value`;
  const unitId = wholeNumber(values.unit, MAX_UNIT);
  if (Number.isNaN(unitId)) {
    return `--unit: expected a unit identifier from 0 to ${MAX_UNIT}, got ${quote(values.unit ?? '')}`;
  }
  const seed = wholeNumber(values.seed, MAX_SEED);
  if (Number.isNaN(seed)) {
    return `--seed: expected a whole number from 0 to ${MAX_SEED}, got ${quote(values.seed ?? '')}`;
  }
  const limit = limitSchema.safeParse(values.limit ?? DEFAULT_LIMIT_MS);
  if (!limit.success) return `--limit: expected ${LIMIT}, got ${quote(values.limit ?? '')}`;
  const remote = remoteProblem(values);
  if (remote !== undefined) return remote;
  const { config, dut, junit, html, json, url } = values;
  return {
    what: 'examine',
    line,
    source: config === undefined ? { kind: 'demo' } : { kind: 'native', file: config },
    checks: (values.checks ?? '').split(',').flatMap((name) => name.trim() || []),
    limitMs: limit.data,
    witness: compact({
      register: values['witness-register'],
      url: values['witness-url'],
      path: values['witness-path'],
      command: values['witness-command'],
    }),
    ...compact({ unitId, seed, dut, junit, html, json, url }),
    ...(url !== undefined && compact({ token: values.token ?? token })),
  };
}

/** What goes only with a simulator that runs already, or only without. */
function remoteProblem(
  values: Readonly<Partial<Record<'url' | 'token' | 'config' | 'witness-url' | 'witness-command', string>>>,
): string | undefined {
  const { url, token, config } = values;
  if (url === undefined) return token === undefined ? undefined : '--token needs --url';
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    return `--url: expected the address of REST, as in http://127.0.0.1:8080, got ${quote(url)}`;
  }
  if (config !== undefined) return '--config has no effect with --url: the simulator there has its own';
  const foreign = (['witness-url', 'witness-command'] as const).find((name) => values[name] !== undefined);
  return foreign && `--${foreign} can't be used with --url; use --witness-register`;
}

/** NaN for text that is no whole number from 0 to `max`. */
function wholeNumber(text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return number <= max ? number : Number.NaN;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return (error as Error).message;
  }
}
