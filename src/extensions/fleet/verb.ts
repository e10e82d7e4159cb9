import { setTimeout as sleep } from 'node:timers/promises';
import { complain, FAILED, NOT_DONE, OK, say } from '../../cli/verbs/say.js';
import { standardOutput } from '../../cli/verbs/standard.js';
import { stopOfReader } from '../../cli/verbs/stop-signal.js';
import { save } from '../../cli/verbs/write-files.js';
import { failure, type Result, success } from '../../common/result.js';
import { isMapping } from '../../common/schema/parts.js';
import { formatProblems } from '../../common/schema/problem.js';
import { counted } from '../../common/words.js';
import { readConfigFile } from '../../document/text/read-file.js';
import { readBrokerFiles } from '../../remote/mqtt/credentials.js';
import type { Code } from '../../simulator/commands/refusal.js';
import { Fleet, type FleetAnswer } from './benches.js';
import type { FleetCommand } from './command.js';
import type { FleetBench } from './known-benches.js';
import { clientTestWork, readScenarios, runOnAll } from './runs.js';

/** Interval for checking the list of benches for changes, in ms. */
const LOOK_EVERY_MS = 500;
/** Moves the cursor to the top and clears the screen (ECMA-48). */
const CLEAR = '\u001b[H\u001b[2J';

/** The name prefix of rules that this command puts in force. */
const ARMED = 'fleet.';

/** The work of a command on the selected benches; resolves with the exit code. */
type Action = (fleet: Fleet, benches: readonly FleetBench[]) => Promise<number> | number;

/**
 * Queries or commands the benches on a broker; resolves with the exit code, which is 1 if any bench refused
 * or is gone.
 */
export async function fleet(command: FleetCommand): Promise<number> {
  const { broker: url, username, ca, topic, action } = command;
  const carryOut = actionOf(command);
  if (!carryOut.ok) return complain(carryOut.error, NOT_DONE);
  const read = ca === undefined ? success({}) : await readBrokerFiles({ ca });
  if (!read.ok) return complain(read.error, NOT_DONE);
  const credentials = read.value;
  const password = process.env.MODBUS_SIM_MQTT_PASSWORD;
  const found = await Fleet.find(
    { url, qos: 1, credentials, ...(username && { username }), ...(password && { password }) },
    topic,
  );
  if (!found.ok) return complain(found.error, NOT_DONE);
  const client = found.value;
  try {
    if (action.do === 'list' && action.watch) return await watch(client, command);
    const benches = client.select(command);
    return benches.length === 0
      ? complain(
          'no benches found: none has announced itself on the topic, or none matches --on and --label',
          NOT_DONE,
        )
      : await carryOut.value(client, benches);
  } finally {
    await client.end();
  }
}

/** Reads the files of a command. @returns the action, or what is wrong with a file */
function actionOf(command: FleetCommand): Result<Action> {
  const { action, timeout, json } = command;
  switch (action.do) {
    case 'list':
      return success((_, benches) => list(benches, json));
    case 'targets':
      return success((_, benches) => writeTargets(action.file, benches));
    case 'run':
      return success(async (fleet, benches) =>
        conclude(
          await onAll(benches, (bench) => fleet.ask(bench, action.command, action.input, timeout)),
          json,
        ),
      );
    case 'clear':
      return success(async (fleet, benches) =>
        conclude(await onAll(benches, (bench) => clearRules(fleet, bench, timeout, action.all)), json),
      );
    case 'apply': {
      const rules = readRules(action.file);
      if (!rules.ok) return rules;
      return success((fleet, benches) => applyRules(fleet, benches, command, rules.value));
    }
    case 'push': {
      const pushed = readPushed(action.file);
      if (!pushed.ok) return pushed;
      return success((fleet, benches) => push(fleet, benches, command, pushed.value));
    }
    case 'test': {
      const works = readScenarios(action.files, action.settings);
      if (!works.ok) return works;
      return success((fleet, benches) => runOnAll(fleet, benches, command, works.value, action.reports));
    }
    case 'test-client':
      return success((fleet, benches) =>
        runOnAll(fleet, benches, command, [clientTestWork(action.order)], action.reports),
      );
  }
}

/** Prints the benches. @returns the exit code */
function list(benches: readonly FleetBench[], json: string | undefined): number {
  say(tableOf(benches));
  return writeJson(json, benches);
}

/** Prints the benches again whenever something changes, until the user stops it. */
async function watch(fleet: Fleet, command: FleetCommand): Promise<number> {
  const stop = stopOfReader(OK);
  let shown = '';
  for (let seen = -1; !stop.isStopped; ) {
    if (seen !== fleet.changes) {
      seen = fleet.changes;
      const table = tableOf(fleet.select(command));
      if (table !== shown) {
        if (process.stdout.isTTY) standardOutput().print(CLEAR);
        else if (shown !== '') say('');
        say(table);
      }
      shown = table;
    }
    await Promise.race([stop.signal, sleep(LOOK_EVERY_MS)]);
  }
  return writeJson(command.json, fleet.select(command));
}

/** Writes the REST addresses for Prometheus' file-based discovery. @returns the exit code */
function writeTargets(file: string, benches: readonly FleetBench[]): number {
  const targets = benches.flatMap(({ topic, state, labels, rest }) =>
    state === 'online'
      ? [{ targets: rest.map((url) => new URL(url).host), labels: { ...labels, bench: topic } }]
      : [],
  );
  const code = writeJson(file, targets);
  return code === OK ? say(`wrote ${file}: ${targets.length} of ${benches.length}`) : code;
}

function tableOf(benches: readonly FleetBench[]): string {
  const rows = benches.map(({ topic, state, version, since, lines, rules, tests }) => [
    topic,
    state,
    version ?? '',
    since ?? '',
    lines.map((line) => `${line.name} ${line.state}`).join(', '),
    state === 'online' ? String(rules.length) : '',
    tests.join(', '),
  ]);
  const all = [['bench', 'state', 'version', 'since', 'lines', 'rules', 'tests'], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

type PushedConfiguration = Readonly<Record<string, unknown>>;

/**
 * Reads a configuration file in the form that is sent.
 * @returns it, or what is wrong, as lines for a terminal
 */
function readPushed(file: string): Result<PushedConfiguration> {
  const read = readConfigFile(file);
  if (!read.ok) return failure(formatProblems(file, read.problems));
  const { value } = read.source;
  if (!isMapping(value)) return failure(`${file}: expected a mapping with devices and lines`);
  // JSON has no integers beyond 2^53. As text they are accepted wherever such a number is.
  const text = JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each));
  return success(JSON.parse(text) as PushedConfiguration);
}

/** Applies a configuration on all benches, or on none if any of them rejects it when it is checked. */
async function push(
  fleet: Fleet,
  benches: readonly FleetBench[],
  { timeout, json }: FleetCommand,
  configuration: PushedConfiguration,
): Promise<number> {
  const send = (command: string) => (bench: FleetBench) =>
    fleet.ask(bench, command, { configuration }, timeout);
  const checked = await onAll(benches, send('configuration.check'), () => {});
  if (checked.some(({ answer }) => !answer.ok)) {
    complain('no bench was changed: all of them must accept the configuration');
    const answers = checked.map(({ bench, answer }) => ({ bench: bench.topic, ...answer }));
    return writeJson(json, answers, FAILED);
  }
  return conclude(await onAll(benches, send('configuration.apply')), json);
}

type Rule = Readonly<Record<string, unknown>>;

/** Puts rules in force: on each bench, all of them or none. Removes them again if the user interrupts. */
async function applyRules(
  fleet: Fleet,
  benches: readonly FleetBench[],
  { timeout, json }: FleetCommand,
  rules: readonly Rule[],
): Promise<number> {
  const inForce = new Map<FleetBench, string[]>();
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
  };
  process.once('SIGINT', interrupt);
  const takeBack = (bench: FleetBench, armed: readonly string[]) =>
    Promise.all(armed.map((name) => fleet.ask(bench, 'rule.remove', { name }, timeout)));
  const outcomes = await onAll(benches, async (bench) => {
    const armed: string[] = [];
    inForce.set(bench, armed);
    for (const rule of rules) {
      const name = `${ARMED}${rule.name}`;
      // The rule may be in force even if the answer was lost.
      armed.push(name);
      const answer = isInterrupted
        ? ({ ok: false, code: 'bench.interrupted' satisfies Code, detail: 'was interrupted' } as const)
        : await fleet.ask(bench, 'rule.replace', { rule: { ...rule, name } }, timeout);
      if (!answer.ok) {
        await takeBack(bench, armed.splice(0));
        return answer;
      }
    }
    return { ok: true, value: armed };
  });
  const code = conclude(outcomes, json);
  process.off('SIGINT', interrupt);
  if (!isInterrupted) return code;
  await Promise.all([...inForce].map(([bench, armed]) => takeBack(bench, armed)));
  return complain('interrupted: the rules were removed again');
}

/** Removes the rules that `fleet fault apply` put in force, or all rules. */
async function clearRules(
  fleet: Fleet,
  bench: FleetBench,
  timeout: number,
  all: boolean,
): Promise<FleetAnswer> {
  const listed = await fleet.ask(bench, 'rule.list', {}, timeout);
  if (!listed.ok) return listed;
  const names = (listed.value as { readonly name: string }[]).map(({ name }) => name);
  const meant = names.filter((name) => all || name.startsWith(ARMED));
  for (const name of meant) {
    const removed = await fleet.ask(bench, 'rule.remove', { name }, timeout);
    if (!removed.ok && removed.code !== 'rule.unknown') return removed;
  }
  return { ok: true, value: meant };
}

/**
 * Reads the rules in a file: one rule or a list, at the top level or under `faults`.
 * @returns them, or an error message
 */
function readRules(file: string): Result<Rule[]> {
  const read = readConfigFile(file);
  if (!read.ok) return failure(`${file}: ${read.problems[0]?.message ?? "can't be read"}`);
  const { value } = read.source;
  const written = isMapping(value) && value.faults !== undefined ? value.faults : value;
  const rules: readonly unknown[] = Array.isArray(written) ? written : [written];
  const isRule = (rule: unknown): rule is Rule => isMapping(rule) && typeof rule.name === 'string';
  return rules.length > 0 && rules.every(isRule)
    ? success(rules.filter(isRule))
    : failure(`${file}: expected a fault rule with a name, or a list of them`);
}

interface BenchOutcome {
  readonly bench: FleetBench;
  readonly answer: FleetAnswer;
}

/**
 * Sends a request to all benches at once, and prints each outcome as it arrives.
 * @param show turns a successful answer into text
 */
function onAll(
  benches: readonly FleetBench[],
  work: (bench: FleetBench) => Promise<FleetAnswer>,
  show = ({ topic }: FleetBench, value: unknown) => void say(`${topic}: ${JSON.stringify(value) ?? 'done'}`),
): Promise<BenchOutcome[]> {
  return Promise.all(
    benches.map(async (bench): Promise<BenchOutcome> => {
      const answer = await work(bench);
      if (answer.ok) show(bench, answer.value);
      else complain(`${bench.topic}: ${answer.code}: ${answer.detail}`);
      return { bench, answer };
    }),
  );
}

/**
 * Prints how many benches succeeded, and writes the answers.
 * @returns the exit code: 1 if any bench failed
 */
function conclude(outcomes: readonly BenchOutcome[], json: string | undefined): number {
  const done = outcomes.filter(({ answer }) => answer.ok).length;
  say(`${done} of ${counted(outcomes.length, 'bench', 'benches')} succeeded`);
  const answers = outcomes.map(({ bench, answer }) => ({ bench: bench.topic, ...answer }));
  return writeJson(json, answers, done === outcomes.length ? OK : FAILED);
}

/** @returns the exit code: `code`, unless the file can't be written */
function writeJson(file: string | undefined, content: unknown, code = OK): number {
  if (file === undefined) return code;
  const failure = save(file, `${JSON.stringify(content, null, 2)}\n`, 'list of benches');
  return failure === undefined ? code : complain(failure);
}
