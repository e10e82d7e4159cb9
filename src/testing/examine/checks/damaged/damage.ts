import { type Believed, believed } from '../../believed.js';
import { type Check, fail, inconclusive, type Outcome, pass } from '../../check.js';
import type { Exam } from '../../exam.js';
import { numberText } from '../../found.js';
import { type Reaction, reactionOf } from '../../reaction.js';
import { type AfterSpoilt, spoilOne } from '../../spoil.js';

type Described = Pick<Check, 'id' | 'title' | 'does' | 'matters' | 'source' | 'transports' | 'abilities'>;

/** A way to damage a reply that a client must not take. */
export interface Damage extends Described {
  /** The damaged reply, as part of a sentence: `a reply with a wrong CRC`. */
  readonly what: string;
  /** The reply is there undamaged, with more bytes around it, so its own value may be taken. */
  readonly isIntact?: boolean;
  /** The undamaged reply comes first, so a client that goes on as usual has done nothing wrong. */
  readonly isHarmless?: boolean;
  /** @returns the faults, or why this client's question can't be damaged like this */
  readonly faults: (exam: Exam) => readonly object[] | string;
}

/** When a client passes, as far as it depends on the damage. */
function ruleOf({ isIntact, isHarmless }: Damage): string {
  const usual = isHarmless ? ', or goes on as after a good reply' : '';
  const spoilt = isIntact ? 'a value that no reply carried' : 'the spoilt value';
  const unclear = isHarmless
    ? ''
    : '; inconclusive when it goes on as after a good reply and there is no witness';
  return `Passes when the client asks again, or waits for another reply${usual}, or when the witness shows no spoilt value; fails when \
the witness shows ${spoilt}, or follows no more, and when the client stops, or does not poll as before afterwards${unclear}.`;
}

/** The check that a client does not take a damaged reply. */
export function damageCheck(damage: Damage): Check {
  const { what, isIntact, isHarmless, faults, ...described } = damage;
  return {
    ...described,
    group: 'damaged',
    rule: ruleOf(damage),
    async run(exam) {
      const wanted = faults(exam);
      if (typeof wanted === 'string') return inconclusive(wanted);
      const seen = await spoilOne(exam, wanted);
      if (typeof seen === 'string') return inconclusive(seen);
      const reaction = reactionOf(exam, seen.spoilt, seen.next);
      const told = reactionText(reaction, seen);
      if (reaction === 'nothing') return fail(told, seen.evidence, `stops after ${what}`);
      const belief = await believed(exam, wanted);
      if (!(await exam.recover())) {
        return fail(
          `${told}, and did not poll as before afterwards`,
          seen.evidence,
          `does not recover from ${what}`,
        );
      }
      return verdict(damage, { reaction, told, seen, belief });
    },
  };
}

interface Seen {
  readonly reaction: Reaction;
  readonly told: string;
  readonly seen: AfterSpoilt;
  readonly belief: Believed;
}

function verdict(
  { what, isIntact, isHarmless }: Damage,
  { reaction, told, seen: { evidence }, belief }: Seen,
): Outcome {
  const isSpoilt = belief.kind === 'other' || (belief.kind === 'sent' && isIntact !== true);
  if (isSpoilt) {
    const ever = belief.isForEver ? ', and did not come back to the true value' : '';
    const summary = `${told}; ${belief.text}${ever}`;
    return fail(summary, [...evidence, ...belief.evidence], `takes ${what} for a good one: dangerous`);
  }
  if (belief.isForEver) {
    const summary = `${told}; the witness did not follow the good replies afterwards`;
    return fail(summary, [...evidence, ...belief.evidence], `keeps an old value after ${what}`);
  }
  if (belief.kind === 'kept' || belief.kind === 'sent') {
    return pass(`${told}; ${belief.text}`, [...evidence, ...belief.evidence]);
  }
  const isRight = reaction === 'again' || reaction === 'later' || isHarmless === true;
  if (isRight) return pass(told, evidence);
  return inconclusive(`${told}; the line does not show if it took the value, and ${belief.text}`, evidence);
}

function reactionText(reaction: Reaction, { afterMs = 0 }: AfterSpoilt): string {
  const ms = `${numberText(afterMs)} ms`;
  switch (reaction) {
    case 'again':
      return `asked again ${ms} after the request whose reply was spoilt`;
    case 'later':
      return `did not take the reply: went on only ${ms} after the request`;
    case 'nothing':
      return 'asked nothing more after it';
    case 'otherwise':
      return `went on with another question than usual, ${ms} after the request`;
    default:
      return 'went on as after a good reply';
  }
}
