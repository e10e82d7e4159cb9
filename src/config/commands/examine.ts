import { MAX_SEED } from '../../random.js';
import { milliseconds } from '../../schema/milliseconds.js';
import { quote } from '../../schema/problem.js';
import { compact } from '../compact.js';
import type { ConfigurationSource } from '../load.js';
import type { Given, Values } from './scan.js';
import { FREE_PORTS_OPTION, sourceOf } from './source.js';
import {
  FREE_PORTS_REMOTE,
  REMOTE_OPTIONS,
  REPORT_OPTIONS,
  type Reports,
  reportsOf,
  urlProblem,
  wholeNumber,
} from './values.js';

/** Find out how a client behaves. */
export interface ExamineCommand {
  readonly kind: 'examine';
  readonly request: ExamineRequest;
}

/** What the user asks of `modbus-sim examine`. */
export type ExamineRequest =
  | { readonly what: 'list' }
  | (ExaminationOrder &
      Reports & {
        readonly what: 'examine';
        readonly line: string;
        readonly source: ConfigurationSource;
        /** The command that starts the client. */
        readonly dut?: string;
        /** The client is started again when it has ended. */
        readonly restart?: boolean;
        /** What was written of a witness; empty when there is none. */
        readonly witness: WrittenWitness;
        /** REST of a simulator that runs already; without it, the examination has a bench of its own. */
        readonly url?: string;
        readonly token?: string;
      });

/** What an examination does, wherever it runs. */
export interface ExaminationOrder {
  /** Only questions to this unit are disturbed. */
  readonly unitId?: number;
  /** Identifiers and groups; all checks when empty. */
  readonly checks: readonly string[];
  readonly limitMs: number;
  /** Drawn when absent. */
  readonly seed?: number;
}

/** The examination that a user asks for. */
export type ExaminationWanted = Extract<ExamineRequest, { what: 'examine' }>;

/** The options `--witness-…`, as they were written. */
interface WrittenWitness {
  readonly register?: string;
  readonly url?: string;
  readonly path?: string;
  readonly command?: string;
}

export const EXAMINE_OPTIONS = {
  config: { type: 'string' },
  ...FREE_PORTS_OPTION,
  unit: { type: 'string' },
  checks: { type: 'string' },
  limit: { type: 'string' },
  seed: { type: 'string' },
  dut: { type: 'string' },
  restart: { type: 'boolean' },
  ...REPORT_OPTIONS,
  ...REMOTE_OPTIONS,
  'witness-register': { type: 'string' },
  'witness-url': { type: 'string' },
  'witness-path': { type: 'string' },
  'witness-command': { type: 'string' },
  list: { type: 'boolean' },
} as const;

type Name = keyof typeof EXAMINE_OPTIONS;

const DEFAULT_LIMIT_MS = 600_000;
const SHORTEST_LIMIT_MS = 1000;
const LONGEST_LIMIT_MS = 86_400_000;
const MAX_UNIT = 255;

/** @returns what is wrong, as a sentence */
export function parseExamine(given: Given<Name>): ExamineCommand | string {
  const request = parseRequest(given);
  return typeof request === 'string' ? request : { kind: 'examine', request };
}

function parseRequest({ values, words, token }: Given<Name>): ExamineRequest | string {
  if (values.list !== undefined) return { what: 'list' };
  const [line, ...more] = words;
  if (line === undefined || more.length > 0) return 'examine takes the name of one line';
  const order = examinationOrder(values);
  if (typeof order === 'string') return order;
  const remote = remoteProblem(values);
  if (remote !== undefined) return remote;
  const reports = reportsOf(values);
  if (typeof reports === 'string') return reports;
  if (values.restart && (values.dut === undefined || values.url !== undefined)) {
    return '--restart needs --dut, without --url';
  }
  const source = sourceOf(values);
  if (typeof source === 'string') return source;
  const { dut, url } = values;
  return {
    what: 'examine',
    line,
    source,
    ...order,
    witness: compact({
      register: values['witness-register'],
      url: values['witness-url'],
      path: values['witness-path'],
      command: values['witness-command'],
    }),
    ...reports,
    ...compact({ dut, url }),
    ...(values.restart !== undefined && { restart: true }),
    ...(url !== undefined && compact({ token: values.token ?? token })),
  };
}

/** @returns what is wrong, as a sentence */
export function examinationOrder(
  values: Values<'unit' | 'checks' | 'limit' | 'seed'>,
): ExaminationOrder | string {
  const unitId = values.unit === undefined ? undefined : wholeNumber(values.unit, MAX_UNIT);
  if (Number.isNaN(unitId)) {
    return `--unit: expected a unit identifier from 0 to ${MAX_UNIT}, got ${quote(values.unit ?? '')}`;
  }
  const seed = values.seed === undefined ? undefined : wholeNumber(values.seed, MAX_SEED);
  if (Number.isNaN(seed)) {
    return `--seed: expected a whole number from 0 to ${MAX_SEED}, got ${quote(values.seed ?? '')}`;
  }
  const limitMs = values.limit === undefined ? DEFAULT_LIMIT_MS : milliseconds(values.limit);
  if (!(limitMs >= SHORTEST_LIMIT_MS && limitMs <= LONGEST_LIMIT_MS)) {
    return `--limit: expected a time from 1s to 24h, such as 10m, got ${quote(values.limit ?? '')}`;
  }
  const checks = (values.checks ?? '').split(',').flatMap((name) => name.trim() || []);
  return { checks, limitMs, ...compact({ unitId, seed }) };
}

/** What goes only with a simulator that runs already, or only without. */
function remoteProblem(values: Values<Name>): string | undefined {
  const { url, token, config } = values;
  if (url === undefined) return token === undefined ? undefined : '--token needs --url';
  const problem = urlProblem(url);
  if (problem !== undefined) return problem;
  if (config !== undefined) return '--config has no effect with --url: the simulator there has its own';
  if (values['free-ports'] !== undefined) return FREE_PORTS_REMOTE;
  const foreign = (['witness-url', 'witness-command'] as const).find((name) => values[name] !== undefined);
  return foreign && `--${foreign} can't be used with --url; use --witness-register`;
}
