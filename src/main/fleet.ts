import type { FleetCommand } from '../config/commands/fleet.js';
import { readConfigFile } from '../config/text/read-file.js';
import { readBrokerFiles } from '../mqtt/credentials.js';
import { Fleet, type FleetAnswer, type FleetBench } from '../mqtt/fleet.js';
import { isMapping } from '../schema/parts.js';
import { save } from './save.js';
import { complain, FAILED, OK, say } from './say.js';

/** The names of rules that this command has put in force begin so. */
const ARMED = 'fleet.';

/** What came of a command on one bench. */
interface Outcome {
  readonly bench: FleetBench;
  readonly answer: FleetAnswer;
}

/** Asks or commands the benches on a broker; resolves with the exit code, 1 if one bench refused or is gone. */
export async function fleet(command: FleetCommand): Promise<number> {
  const { broker: url, username, ca, topic, action, labels, on } = command;
  const rules = action.do === 'apply' ? readRules(action.file) : [];
  if (typeof rules === 'string') return complain(rules);
  const credentials = ca === undefined ? {} : await readBrokerFiles({ ca });
  if (typeof credentials === 'string') return complain(credentials);
  const password = process.env.MODBUS_SIM_MQTT_PASSWORD;
  const found = await Fleet.find(
    { url, qos: 1, credentials, ...(username && { username }), ...(password && { password }) },
    topic,
  );
  if (typeof found === 'string') return complain(found);
  try {
    const benches = found.select({ on, labels });
    if (benches.length === 0)
      return complain('no bench is meant: none has said so on the topic, or --on and --label fit none');
    switch (action.do) {
      case 'list':
        say(tableOf(benches));
        return writeJson(command.json, benches);
      case 'targets':
        return writeTargets(action.file, benches);
      case 'run':
        return await onAll(benches, command, (bench) =>
          found.ask(bench, action.command, action.input, command.timeout),
        );
      case 'apply':
        return await applyRules(found, benches, command, rules);
      case 'clear':
        return await onAll(benches, command, (bench) => clear(found, bench, command.timeout, action.all));
    }
  } finally {
    await found.end();
  }
}

/** Does something on all benches at once, and prints what came of it, as it comes. */
async function onAll(
  benches: readonly FleetBench[],
  { json }: FleetCommand,
  work: (bench: FleetBench) => Promise<FleetAnswer>,
): Promise<number> {
  const outcomes = await Promise.all(
    benches.map(async (bench): Promise<Outcome> => {
      const answer = await work(bench);
      if (answer.ok) say(`${bench.topic}: ${JSON.stringify(answer.value) ?? 'done'}`);
      else complain(`${bench.topic}: ${answer.code}: ${answer.detail}`);
      return { bench, answer };
    }),
  );
  const refused = outcomes.filter(({ answer }) => !answer.ok).length;
  const done = outcomes.length - refused;
  say(`${done} of ${outcomes.length} ${outcomes.length === 1 ? 'bench has' : 'benches have'} done it`);
  const answers = outcomes.map(({ bench, answer }) => ({ bench: bench.topic, ...answer }));
  return writeJson(json, answers, refused === 0 ? OK : FAILED);
}

type Rule = Readonly<Record<string, unknown>>;

/** Puts rules in force: all of them on a bench, or none. What was begun is taken back when somebody interrupts. */
async function applyRules(
  fleet: Fleet,
  benches: readonly FleetBench[],
  command: FleetCommand,
  rules: readonly Rule[],
): Promise<number> {
  const { timeout } = command;
  const inForce = new Map<FleetBench, string[]>();
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
  };
  process.once('SIGINT', interrupt);
  const takeBack = (bench: FleetBench, armed: readonly string[]) =>
    Promise.all(armed.map((name) => fleet.ask(bench, 'rule.remove', { name }, timeout)));
  const code = await onAll(benches, command, async (bench) => {
    const armed: string[] = [];
    inForce.set(bench, armed);
    for (const rule of rules) {
      const name = `${ARMED}${rule.name}`;
      // It may be in force though its answer was lost.
      armed.push(name);
      const answer = isInterrupted
        ? ({ ok: false, code: 'bench.interrupted', detail: 'was interrupted' } as const)
        : await fleet.ask(bench, 'rule.replace', { rule: { ...rule, name } }, timeout);
      if (!answer.ok) {
        await takeBack(bench, armed.splice(0));
        return answer;
      }
    }
    return { ok: true, value: armed };
  });
  process.off('SIGINT', interrupt);
  if (!isInterrupted) return code;
  await Promise.all([...inForce].map(([bench, armed]) => takeBack(bench, armed)));
  return complain('interrupted: the rules were taken back');
}

/** Removes the rules that `fleet fault apply` has put in force, or all. */
async function clear(fleet: Fleet, bench: FleetBench, timeout: number, all: boolean): Promise<FleetAnswer> {
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

/** The rules in a file: one, or a list, alone or below `faults`. @returns what is wrong, as a sentence */
function readRules(file: string): Rule[] | string {
  const read = readConfigFile(file);
  if (!read.ok) return `${file}: ${read.problems[0]?.message ?? 'can not be read'}`;
  const { value } = read.source;
  const written = isMapping(value) && value.faults !== undefined ? value.faults : value;
  const rules: readonly unknown[] = Array.isArray(written) ? written : [written];
  const isRule = (rule: unknown): rule is Rule => isMapping(rule) && typeof rule.name === 'string';
  return rules.length > 0 && rules.every(isRule)
    ? rules.filter(isRule)
    : `${file}: expected a fault rule with a name, or a list of them`;
}

function tableOf(benches: readonly FleetBench[]): string {
  const rows = benches.map(({ topic, state, version, since, lines, rules, running }) => [
    topic,
    state,
    version ?? '',
    since ?? '',
    lines.map((line) => `${line.name} ${line.state}`).join(', '),
    state === 'online' ? String(rules.length) : '',
    state === 'online' ? String(running.length) : '',
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

/** Writes the addresses of REST for the file-based discovery of Prometheus. */
function writeTargets(file: string, benches: readonly FleetBench[]): number {
  const targets = benches.flatMap(({ topic, state, labels, rest }) =>
    state === 'online'
      ? [{ targets: rest.map((url) => new URL(url).host), labels: { ...labels, bench: topic } }]
      : [],
  );
  const code = writeJson(file, targets);
  return code === OK ? say(`wrote ${file}: ${targets.length} of ${benches.length}`) : code;
}

/** @returns the exit code: `code`, unless the file can't be written */
function writeJson(file: string | undefined, content: unknown, code = OK): number {
  if (file === undefined) return code;
  const failure = save(file, `${JSON.stringify(content, null, 2)}\n`, true);
  return failure === undefined ? code : complain(failure);
}
