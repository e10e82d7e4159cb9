import { failure, type Result, success } from '../../common/result.js';
import { isMapping } from '../../common/schema/parts.js';
import { readConfigFile } from '../../files/config/text/read-file.js';
import type { Fleet, FleetAnswer, FleetBench } from '../../remote/mqtt/fleet.js';
import type { Code } from '../../simulator/commands/refusal.js';
import type { FleetCommand } from '../command-line/commands/fleet.js';
import { conclude, onAll } from './fleet-answers.js';
import { complain } from './say.js';

/** The prefix of the names of rules that this command has put in force. */
const ARMED = 'fleet.';

type Rule = Readonly<Record<string, unknown>>;

/** Puts rules in force, on each bench all of them or none. When somebody interrupts, takes them back. */
export async function applyRules(
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
  return complain('interrupted: the rules were taken back');
}

/** Removes the rules that `fleet fault apply` has put in force, or all rules. */
export async function clearRules(
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
 * Reads the rules in a file: one rule or a list, alone or below `faults`.
 * @returns them, or what is wrong, as a sentence
 */
export function readRules(file: string): Result<Rule[]> {
  const read = readConfigFile(file);
  if (!read.ok) return failure(`${file}: ${read.problems[0]?.message ?? 'can not be read'}`);
  const { value } = read.source;
  const written = isMapping(value) && value.faults !== undefined ? value.faults : value;
  const rules: readonly unknown[] = Array.isArray(written) ? written : [written];
  const isRule = (rule: unknown): rule is Rule => isMapping(rule) && typeof rule.name === 'string';
  return rules.length > 0 && rules.every(isRule)
    ? success(rules.filter(isRule))
    : failure(`${file}: expected a fault rule with a name, or a list of them`);
}
