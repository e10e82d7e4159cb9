import { allOf, command, type Given, pairsOf } from '../../cli/command-line/commands/scan.js';
import {
  type ClientTestOrder,
  clientTestOrder,
  ORDER_OPTIONS,
} from '../../cli/command-line/commands/test-client.js';
import {
  flag,
  option,
  REPORT_OPTIONS,
  type Reports,
  reportsOf,
  text,
  timeFrom,
} from '../../cli/command-line/commands/values.js';
import { compact } from '../../common/compact.js';
import { failure, type Result, success } from '../../common/result.js';
import { quote } from '../../common/schema/problem.js';

/** Query or command the benches on an MQTT broker. */
export interface FleetCommand {
  readonly broker: string;
  readonly username?: string;
  /** Path of a PEM file with the trusted CA certificates. */
  readonly ca?: string;
  /** Topic filter for the states that benches publish; it may contain wildcards. */
  readonly topic: string;
  readonly on?: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Longest wait for a bench's answer, in ms. */
  readonly timeout: number;
  /** Path of the JSON file to write the answers to. */
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
      readonly do: 'test-client';
      readonly order: ClientTestOrder & { readonly line: string };
      readonly reports: Reports;
    }
  | { readonly do: 'targets'; readonly file: string };

const DEFAULT_WAIT_MS = 5000;
const LONGEST_WAIT_MS = 3_600_000;

const OPTIONS = {
  broker: option(
    'URL',
    'the address of the MQTT broker; its password is taken from MODBUS_SIM_MQTT_PASSWORD',
    'the address of a broker, such as mqtts://broker:8883',
    (url) => (/^(?:mqtts?|wss?):\/\//.test(url) && URL.canParse(url) ? url : undefined),
  ),
  username: text('NAME', 'the user name for the broker'),
  ca: text('FILE', 'CA certificates (PEM), for mqtts:'),
  topic: text('TOPIC', 'the topic on which benches announce themselves (default modbus-sim/+/state)'),
  on: text('GLOB', 'only benches whose name matches'),
  label: option('NAME=VALUE', 'only benches with this label', 'NAME=VALUE', (label) =>
    /^[^=]+=/.test(label) ? label : undefined,
  ),
  timeout: timeFrom("how long to wait for a bench's answer (default 5s)", 'a time such as 5s or 1m', [
    0,
    LONGEST_WAIT_MS,
  ]),
  file: text('FILE', 'with targets: the file for Prometheus'),
  all: flag('with fault clear: also remove rules that others added'),
  watch: flag('with list: print the list again after each change'),
  ...REPORT_OPTIONS,
  set: text('NAME=VALUE', 'with test: a scenario parameter'),
  ...ORDER_OPTIONS,
};

type Fleet = Given<typeof OPTIONS>;

const USAGE =
  'fleet needs list, run COMMAND [JSON], fault apply FILE, fault clear, push FILE, test FILE..., test-client LINE or targets --file FILE';

export const FLEET = command({
  name: 'fleet',
  words: 'VERB',
  summary: 'query or control all benches on an MQTT broker',
  details:
    'VERB is one of: list; run COMMAND [JSON]; fault apply FILE; fault clear [--all]; push FILE, which applies a configuration to all benches or none; test FILE... and test-client LINE on all benches at once, with their options; targets --file FILE for Prometheus. Exit 1 if a bench refused or disconnected.',
  examples: [
    'fleet list --broker mqtt://broker.local',
    'fleet test scenario.yaml --broker mqtt://broker.local --on "rack-*"',
  ],
  options: OPTIONS,
  parse(given): Result<FleetCommand> {
    const { broker, username, ca, topic = 'modbus-sim/+/state', on, json } = given.values;
    if (broker === undefined) return failure('fleet needs --broker, such as --broker mqtt://broker:1883');
    const action = actionOf(given);
    if (!action.ok) return action;
    const { timeout = DEFAULT_WAIT_MS } = given.values;
    const labels = pairsOf(given.options, 'label');
    return success({
      ...{ broker, topic, labels, timeout, action: action.value },
      ...compact({ username, ca, on, json }),
    });
  },
});

/** The commands that accept each option. Every command accepts an option that is not listed. */
const OPTIONS_OF: Readonly<Partial<Record<string, readonly string[]>>> = {
  file: ['targets'],
  all: ['fault clear'],
  watch: ['list'],
  junit: ['test', 'test-client'],
  html: ['test', 'test-client'],
  about: ['test', 'test-client'],
  tester: ['test', 'test-client'],
  remark: ['test', 'test-client'],
  inconclusive: ['test', 'test-client'],
  set: ['test'],
  unit: ['test-client'],
  checks: ['test-client'],
  limit: ['test-client'],
  seed: ['test-client'],
};

function actionOf({ words, values, options }: Fleet): Result<FleetAction> {
  const [verb, first, second, ...more] = words;
  const command = verb === 'fault' ? `fault ${first}` : (verb ?? '');
  for (const [name] of options) {
    const commands = OPTIONS_OF[name];
    if (commands && !commands.includes(command))
      return failure(`--${name} is for fleet ${commands.join(' and fleet ')}`);
  }
  const reports = reportsOf(values);
  if (verb === 'test') {
    if (first === undefined) return failure('fleet test needs one or more scenario files');
    return success({ do: 'test', files: words.slice(1), settings: allOf(options, 'set'), reports });
  }
  if (more.length > 0) return failure(USAGE);
  const { file, all = false, watch = false } = values;
  switch (verb) {
    case 'list':
      return first === undefined ? success({ do: 'list', watch }) : failure(USAGE);
    case 'push':
      return first !== undefined && second === undefined
        ? success({ do: 'push', file: first })
        : failure(USAGE);
    case 'test-client':
      return first !== undefined && second === undefined
        ? success({ do: 'test-client', order: { line: first, ...clientTestOrder(values) }, reports })
        : failure(USAGE);
    case 'examine':
      return failure('fleet examine is now called fleet test-client');
    case 'run':
      return first === undefined ? failure(USAGE) : runOf(first, second);
    case 'targets':
      return file === undefined || first !== undefined
        ? failure('fleet targets needs --file FILE')
        : success({ do: 'targets', file });
    case 'fault':
      if (first === 'apply' && second !== undefined) return success({ do: 'apply', file: second });
      return first === 'clear' && second === undefined ? success({ do: 'clear', all }) : failure(USAGE);
    default:
      return failure(USAGE);
  }
}

function runOf(command: string, text = '{}'): Result<FleetAction> {
  try {
    return success({ do: 'run', command, input: JSON.parse(text) as unknown });
  } catch (error) {
    return failure(`fleet run: ${quote(text)} is not JSON: ${(error as Error).message}`);
  }
}
