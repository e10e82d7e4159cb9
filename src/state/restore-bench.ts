import { type FaultRule, lineProblems, resolveNames, ruleSchema } from '../faults/rule.js';
import { At } from '../schema/at.js';
import { Findings, type Mistakes } from '../schema/findings.js';
import { pathText } from '../schema/problem.js';
import type { Simulator } from '../simulator/simulator.js';
import type { FileContent } from './bench-state.js';
import { deviceFingerprint, lineFingerprint, rulesFingerprint } from './fingerprint.js';
import type { BenchState } from './schema.js';

/** What was restored and what could not be, in words. */
export interface RestoredBench {
  readonly done: readonly string[];
  readonly problems: readonly string[];
  /** The names of lines whose settings are not those of the file. */
  readonly lines: ReadonlySet<string>;
}

const OTHER_FILE = 'the file defines it differently now';

type Outcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly issues: Mistakes }
  | { readonly ok: false; readonly error: string };

/** Gives a simulator that is not started yet the devices, lines and rules that it had. */
export async function restoreBench(
  simulator: Simulator,
  file: FileContent,
  { devices, lines, faults }: BenchState,
): Promise<RestoredBench> {
  const done: string[] = [];
  const problems: string[] = [];
  const restored = new Set<string>();
  const note = (what: string, problem: string | undefined, name?: string) => {
    if (problem !== undefined) problems.push(`${what}: ${problem}`);
    else {
      done.push(what);
      if (name !== undefined) restored.add(name);
    }
  };
  const lineInFile = new Map(file.lines.map((line) => [line.name, lineFingerprint(line)]));
  const deviceInFile = new Map(file.devices.map((device) => [device.name, deviceFingerprint(device)]));
  const known = faults && rulesFingerprint(file.faults) === faults.fingerprint;

  // Rules may name lines and devices that go, or that are not there yet: without rules until all of them are right.
  if (known) for (const { rule } of simulator.faults.rules.list()) simulator.faults.rules.remove(rule.name);
  for (const { name, fingerprint } of lines.removed) {
    const same = lineInFile.get(name) === fingerprint;
    note(`removal of line ${name}`, same ? problemOf(await simulator.changes.removeLine(name)) : OTHER_FILE);
  }
  for (const { name, source } of devices.added) {
    note(`device ${name}`, problemOf(simulator.changes.createDevice(name, source)));
  }
  for (const { name, fingerprint, change } of lines.changed) {
    const line = simulator.lines.get(name);
    const same = line && lineInFile.get(name) === fingerprint;
    note(
      `line ${name}`,
      same ? problemOf(await simulator.changes.changeLine(line, change)) : OTHER_FILE,
      name,
    );
  }
  for (const { name, source } of lines.added) {
    note(`line ${name}`, problemOf(simulator.changes.addLine(name, source)), name);
  }
  for (const { name, fingerprint } of devices.removed) {
    const same = deviceInFile.get(name) === fingerprint;
    note(
      `removal of device ${name}`,
      same ? problemOf(await simulator.changes.removeDevice(name)) : OTHER_FILE,
    );
  }
  if (known) restoreRules(simulator, faults.rules, note);
  else if (faults) problems.push('fault rules: those of the file are other ones now');
  return { done, problems, lines: restored };
}

function restoreRules(
  simulator: Simulator,
  sources: readonly unknown[],
  note: (what: string, problem: string | undefined) => void,
): void {
  for (const [i, source] of sources.entries()) {
    const findings = new Findings();
    const rule = new At(source, findings).check(ruleSchema);
    const resolved = rule && usable(rule, simulator, findings);
    if (resolved) simulator.faults.rules.set(resolved);
    note(
      `fault rule ${rule?.name ?? i + 1}`,
      resolved ? undefined : problemOf({ ok: false, issues: findings }),
    );
  }
}

/** The rule with the places of the values that it names; undefined after telling why it can't be in force. */
function usable(rule: FaultRule, simulator: Simulator, findings: Findings): FaultRule | undefined {
  for (const issue of lineProblems(rule, simulator.faultLines)) findings.add(() => issue);
  const resolved = resolveNames(rule, simulator.findValue);
  if (!resolved.ok) findings.add(() => resolved.issue);
  return resolved.ok && findings.count === 0 ? resolved.rule : undefined;
}

/** Why something was not done; undefined on success. */
function problemOf(outcome: Outcome): string | undefined {
  if (outcome.ok) return undefined;
  if ('error' in outcome) return outcome.error;
  return outcome.issues.listed.map(({ path, message }) => `${pathText(path)}: ${message}`).join('; ');
}
