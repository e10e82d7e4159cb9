import type { Issue } from '../schema/problem.js';
import { type FaultLine, lackOf } from './ability.js';
import { aimsAt } from './condition.js';
import type { FaultRule } from './rule.js';

/**
 * Why a rule can't be used: it names an unknown line, or a line that can't carry out one of its faults. A rule for any
 * line is refused only when no line at all supports the fault. Lines that don't support it report the fault as not
 * achieved.
 */
export function lineProblems(rule: FaultRule, lines: readonly FaultLine[]): Issue[] {
  const aimedAt = lines.filter(({ name }) => aimsAt(rule.when, name));
  return [...unknownLines(rule, lines), ...impossibleFaults(rule, aimedAt)];
}

function unknownLines({ when: { line = [] } }: FaultRule, lines: readonly FaultLine[]): Issue[] {
  const known = lines.map(({ name }) => name);
  return [line]
    .flat()
    .filter((name) => !known.includes(name))
    .map((name) => ({
      path: ['when', 'line'],
      message: `unknown line ${name}, expected one of ${known.join(', ')}`,
      code: 'rule.unknown_line',
    }));
}

function impossibleFaults({ when, faults }: FaultRule, lines: readonly FaultLine[]): Issue[] {
  return faults.flatMap(({ kind, needs }, i) => {
    const lacks = lines.flatMap((line) => lackOf(line, needs) ?? []);
    const [message] = lacks;
    const impossible = when.line !== undefined || lacks.length === lines.length;
    return message && impossible ? [{ path: ['do', i, kind], message, code: 'rule.impossible' }] : [];
  });
}
