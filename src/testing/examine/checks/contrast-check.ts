import type { ValueMeaning } from '../trial/accepted-value.js';
import { valueTrial } from '../trial/accepted-value.js';
import type { Check, CheckPlace, CheckText } from '../trial/check.js';
import { type Blame, type Contrast, decide, lineTrial, type Meaning } from '../trial/contrast.js';
import type { Exam } from '../trial/exam.js';
import { type Judged, sure, type Trial } from '../trial/verdict.js';

/** A disturbance and the two behaviours that it distinguishes: a row of a table. */
export interface ContrastRow extends CheckText, CheckPlace, Blame {
  readonly rule: string;
  readonly meaning: Meaning;
  /** @returns what this client is shown; a sentence when it can't be; or the verdict, where nothing need be shown */
  readonly contrast: (exam: Exam) => Contrast | string | Judged | Promise<Contrast | Judged>;
  /** What an observer of values says of a client, where it can say anything. */
  readonly values?: ValueMeaning;
}

/** The check that a row describes. */
export function contrastCheck(group: Check['group'], row: ContrastRow): Check {
  const { meaning, contrast: contrastFor, values, blame, ...described } = row;
  return {
    ...described,
    group,
    async run(exam) {
      const contrast = await contrastFor(exam);
      if (typeof contrast === 'string') return sure('unclear', contrast);
      if ('verdict' in contrast) return contrast;
      const [faults] = contrast.shown;
      const judged = await decide(exam, row, (trials) =>
        values && typeof faults === 'object' && isValuesTurn(exam, trials)
          ? valueTrial(exam, faults, values, row)
          : lineTrial(exam, contrast, meaning, row),
      );
      const isUnseen = judged.verdict === 'inconclusive' && values && !exam.values;
      return isUnseen
        ? { ...judged, summary: `${judged.summary}; there is no observer of its values` }
        : judged;
    },
  };
}

/** Values and the line are looked at in turn, as long as the values can be seen. */
function isValuesTurn({ values }: Exam, trials: readonly Trial[]): boolean {
  const isUnseen = trials.some(({ isOfValues, shows }) => isOfValues && shows === 'unclear');
  return values !== undefined && !isUnseen && trials.length % 2 === 0;
}
