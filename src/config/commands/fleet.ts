import { milliseconds } from '../../schema/milliseconds.js';
import { quote } from '../../schema/problem.js';
import { compact } from '../compact.js';
import type { Given } from './scan.js';

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
  | { readonly do: 'list' }
  | { readonly do: 'run'; readonly command: string; readonly input: unknown }
  | { readonly do: 'apply'; readonly file: string }
  | { readonly do: 'clear'; readonly all: boolean }
  | { readonly do: 'targets'; readonly file: string };

export const FLEET_OPTIONS = {
  broker: { type: 'string' },
  username: { type: 'string' },
  ca: { type: 'string' },
  topic: { type: 'string' },
  on: { type: 'string' },
  label: { type: 'string' },
  timeout: { type: 'string' },
  json: { type: 'string' },
  file: { type: 'string' },
  all: { type: 'boolean' },
} as const;

const USAGE = 'fleet needs list, run COMMAND [JSON], fault apply FILE, fault clear or targets --file FILE';
const LONGEST_WAIT_MS = 3_600_000;

/** @returns what is wrong, as a sentence */
export function parseFleet({
  words,
  values,
  options,
}: Given<keyof typeof FLEET_OPTIONS>): FleetCommand | string {
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
  const action = actionOf(words, values);
  if (typeof action === 'string') return action;
  return {
    kind: 'fleet',
    ...{ broker, topic, labels, timeout: ms, action },
    ...compact({ username, ca, on, json }),
  };
}

function actionOf(
  [verb, first, second, ...more]: readonly string[],
  { file, all }: { readonly file?: string; readonly all?: string },
): FleetAction | string {
  if (more.length > 0) return USAGE;
  if (file !== undefined && verb !== 'targets') return '--file is for fleet targets';
  if (all !== undefined && !(verb === 'fault' && first === 'clear')) return '--all is for fleet fault clear';
  switch (verb) {
    case 'list':
      return first === undefined ? { do: 'list' } : USAGE;
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

function runOf(command: string, text = '{}'): FleetAction | string {
  try {
    return { do: 'run', command, input: JSON.parse(text) as unknown };
  } catch (error) {
    return `fleet run: ${quote(text)} is no JSON: ${(error as Error).message}`;
  }
}
