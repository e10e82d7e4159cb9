import { timesText } from '../../report/words.js';
import { type Exchange, questionsIn } from '../heard/exchange.js';
import type { Exam } from './exam.js';

/** How many questions a sentence names. */
const MOST_NAMED = 2;

/** How long ago that was, in whole seconds, and never more than it was. */
export function secondsSince({ clock }: Pick<Exam, 'clock'>, at: number): string {
  return `${Math.floor(Math.max(0, clock.now() - at) / 1000)} s`;
}

/**
 * Says what the client asks no more, and for how long, as a part of a sentence: everything, or the disturbed
 * question, while it asks others.
 * @param since the last exchange of that question
 */
export function stoppedText(exam: Exam, since: Exchange): string {
  const others = exam.log.after(since.seq);
  const newest = others.at(-1) ?? since;
  if (others.length === 0) return `asked nothing more for ${secondsSince(exam, newest.at)}`;
  const named = questionsIn(others).map(({ text, asked }) => `${text} ${timesText(asked.length)}`);
  const more = named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} other questions` : '';
  return `did not ask ${exam.target.text} for ${secondsSince(exam, since.at)}, but ${named.slice(0, MOST_NAMED).join(', ')}${more}`;
}
