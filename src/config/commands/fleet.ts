import { milliseconds } from '../../schema/milliseconds.js';
import { quote } from '../../schema/problem.js';
import { compact } from '../compact.js';
import { type ExaminationOrder, examinationOrder } from './examine.js';
import type { Given } from './scan.js';
import { REPORT_OPTIONS, type Reports, reportsOf } from './values.js';

/** Ask or command the benches on an MQTT broker. */
export interface FleetCommand {
  readonly kind: 'fleet';
  readonly broker: string;
  readonly username?: string;
  /** The path of certificates of authorities (PEM). */
  readonly ca?: string;
  /** Where benches say that they are there, with wildcards. */
  readonly topic: string;
  readonly on?: string;
  readonly labels: ReadonlyMap<string, string>;
  /** How long a bench may take for an answer, in ms. */
  readonly timeout: number;
  /** Where the answers are written as JSON. */
  readonly json?: string;
  readonly action: FleetAction;
}

type FleetAction =
  | { readonly do: 'list'; readonly watch: boolean }
  | { readonly do: 'run'; readonly command: string; readonly input: unknown }
  | { readonly do: 'apply'; readonly file: string }
  | { readonly do: 'clear'; readonly all: boolean }
  | { readonly do: 'push'; readonly file: string }
  | {
      readonly do: 'test';
      readonly files: readonly string[];
      readonly settings: readonly string[];
      readonly reports: Reports;
    }
  | {
      readonly do: 'examine';
      readonly order: ExaminationOrder & { readonly line: string };
      readonly reports: Reports;
    }
  | { readonly do: 'targets'; readonly file: string };

export const FLEET_OPTIONS = {
  broker: { type: 'string' },
  username: { type: 'string' },
  ca: { type: 'string' },
  topic: { type: 'string' },
  on: { type: 'string' },
  label: { type: 'string' },
  timeout: { type: 'string' },
  file: { type: 'string' },
  all: { type: 'boolean' },
  watch: { type: 'boolean' },
  ...REPORT_OPTIONS,
  set: { type: 'string' },
  unit: { type: 'string' },
  checks: { type: 'string' },
  limit: { type: 'string' },
  seed: { type: 'string' },
} as const;

type Name = keyof typeof FLEET_OPTIONS;

const USAGE =
  'fleet needs list, run COMMAND [JSON], fault apply FILE, fault clear, push FILE, test FILE..., examine LINE or targets --file FILE';
const LONGEST_WAIT_MS = 3_600_000;

/** @returns what is wrong, as a sentence */
export function parseFleet({ words, values, options }: Given<Name>): FleetCommand | string {
  const { broker, username, ca, topic = 'modbus-sim/+/state', on, timeout = '5s', json } = values;
  if (broker === undefined) return 'fleet needs --broker, such as --broker mqtt://broker:1883';
  if (!/^(?:mqtts?|wss?):\/\//.test(broker) || !URL.canParse(broker))
    return `--broker: expected the address of a broker, such as mqtts://broker:8883, got ${quote(broker)}`;
  const ms = milliseconds(timeout);
  if (!(ms <= LONGEST_WAIT_MS)) return `--timeout: expected a time such as 5s or 1m, got ${quote(timeout)}`;
  const labels = new Map<string, string>();
  for (const [name, value] of options) {
    if (name !== 'label') continue;
    const [, key, text] = /^([^=]+)=(.*)$/.exec(value) ?? [];
    if (key === undefined || text === undefined) return `--label: expected NAME=VALUE, got ${quote(value)}`;
    labels.set(key, text);
  }
  const action = actionOf(words, values, options);
  if (typeof action === 'string') return action;
  return {
    kind: 'fleet',
    ...{ broker, topic, labels, timeout: ms, action },
    ...compact({ username, ca, on, json }),
  };
}

/** Which commands each option is for; the others are for all. */
const OPTIONS_OF: Readonly<Partial<Record<string, readonly string[]>>> = {
  file: ['targets'],
  all: ['fault clear'],
  watch: ['list'],
  junit: ['test', 'examine'],
  html: ['test', 'examine'],
  inconclusive: ['test', 'examine'],
  set: ['test'],
  unit: ['examine'],
  checks: ['examine'],
  limit: ['examine'],
  seed: ['examine'],
};

function actionOf(
  words: readonly string[],
  values: Given<Name>['values'],
  options: Given<Name>['options'],
): FleetAction | string {
  const [verb, first, second, ...more] = words;
  const command = verb === 'fault' ? `fault ${first}` : (verb ?? '');
  for (const [name] of options) {
    const commands = OPTIONS_OF[name];
    if (commands && !commands.includes(command))
      return `--${name} is for fleet ${commands.join(' and fleet ')}`;
  }
  if (verb === 'test') return testOf(words.slice(1), values, options);
  if (more.length > 0) return USAGE;
  const { file, all, watch } = values;
  switch (verb) {
    case 'list':
      return first === undefined ? { do: 'list', watch: watch !== undefined } : USAGE;
    case 'push':
      return first !== undefined && second === undefined ? { do: 'push', file: first } : USAGE;
    case 'examine':
      return first !== undefined && second === undefined ? examineOf(first, values) : USAGE;
    case 'run':
      return first === undefined ? USAGE : runOf(first, second);
    case 'targets':
      return file === undefined || first !== undefined
        ? 'fleet targets needs --file FILE'
        : { do: 'targets', file };
    case 'fault':
      if (first === 'apply' && second !== undefined) return { do: 'apply', file: second };
      return first === 'clear' && second === undefined ? { do: 'clear', all: all !== undefined } : USAGE;
    default:
      return USAGE;
  }
}

function testOf(
  files: readonly string[],
  values: Given<Name>['values'],
  options: Given<Name>['options'],
): FleetAction | string {
  if (files.length === 0) return 'fleet test takes the files of scenarios';
  const reports = reportsOf(values);
  if (typeof reports === 'string') return reports;
  const settings = options.flatMap(([name, value]) => (name === 'set' ? value : []));
  return { do: 'test', files, settings, reports };
}

function examineOf(line: string, values: Given<Name>['values']): FleetAction | string {
  const order = examinationOrder(values);
  if (typeof order === 'string') return order;
  const reports = reportsOf(values);
  return typeof reports === 'string' ? reports : { do: 'examine', order: { line, ...order }, reports };
}

function runOf(command: string, text = '{}'): FleetAction | string {
  try {
    return { do: 'run', command, input: JSON.parse(text) as unknown };
  } catch (error) {
    return `fleet run: ${quote(text)} is no JSON: ${(error as Error).message}`;
  }
}
