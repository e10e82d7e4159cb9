import type { Path } from '../schema/problem.js';
import { type Ability, LACKS } from './ability.js';
import { aimsAt } from './condition.js';
import type { FaultRule } from './rule.js';

/** A line as far as faults are concerned. */
export interface FaultLine {
  readonly name: string;
  readonly abilities: ReadonlySet<Ability>;
}

/** What is wrong with a rule, and where in it. */
export interface RuleProblem {
  readonly path: Path;
  readonly message: string;
}

/** Why a rule can't act on some of the lines it aims at: unknown lines, and faults that a line can't do. */
export function lineProblems(rule: FaultRule, lines: readonly FaultLine[]): RuleProblem[] {
  const aimedAt = lines.filter(({ name }) => aimsAt(rule.when, name));
  return [...unknownLines(rule, lines), ...impossibleFaults(rule, aimedAt)];
}

function unknownLines({ when: { line = [] } }: FaultRule, lines: readonly FaultLine[]): RuleProblem[] {
  const known = lines.map(({ name }) => name);
  return [line]
    .flat()
    .filter((name) => !known.includes(name))
    .map((name) => ({
      path: ['when', 'line'],
      message: `unknown line ${name}, expected one of ${known.join(', ')}`,
    }));
}

function impossibleFaults({ faults }: FaultRule, lines: readonly FaultLine[]): RuleProblem[] {
  return faults.flatMap(({ kind, needs }, i) => {
    const unable = needs && lines.find(({ abilities }) => !abilities.has(needs));
    if (!needs || !unable) return [];
    const message = `line ${unable.name} ${LACKS[needs]}; name the lines that can do it in when.line`;
    return [{ path: ['do', i, kind], message }];
  });
}
