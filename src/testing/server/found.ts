import { CONFORMING } from './codes/conforming.js';
import { type FactsIn, outline, worded } from './codes/facts.js';
import { UNDECIDED } from './codes/undecided.js';
import { VIOLATED } from './codes/violated.js';

/** The texts for all codes: the only place where the findings of a server test are put into words. */
const WORDS = { ...VIOLATED, ...CONFORMING, ...UNDECIDED };

/** The codes of server test findings. */
export type Code = keyof typeof WORDS;

type Text = string | ((facts: never) => string);
type FactsOf<Row> = Row extends readonly [string, infer Words]
  ? FactsOf<Words>
  : Row extends string
    ? FactsIn<Row>
    : Row extends (facts: infer Facts) => string
      ? Facts
      : never;

/** A finding of a server test, as data: its code, and its facts with their units. */
export type Found = { [C in Code]: { readonly code: C } & FactsOf<(typeof WORDS)[C]> }[Code];

export const CODES = Object.keys(WORDS) as readonly Code[];

/** The title and the sentence for a code. A code that is not a violation has no title. */
function wordsOf(code: Code): { readonly title: string | undefined; readonly text: Text } {
  const row: Text | readonly [string, Text] = WORDS[code];
  if (typeof row === 'object') return { title: row[0], text: row[1] };
  if (!(code in VIOLATED) || typeof row !== 'string') return { title: undefined, text: row };
  const end = row.indexOf(END_OF_TITLE);
  return { title: row.slice(0, end), text: row.slice(end + END_OF_TITLE.length) };
}

const END_OF_TITLE = ': ';

/** A finding in words, as a sentence without its full stop. */
export function foundText(found: Found): string {
  const { text } = wordsOf(found.code);
  return typeof text === 'string' ? worded(text, { ...found }) : text(found as never);
}

/**
 * What was seen, as a title: `Confirms a write and stores nothing`; otherwise a sentence with the names of
 * its facts.
 */
export function seenTitle(code: Code): string {
  const { title, text } = wordsOf(code);
  return title ?? (typeof text === 'string' ? outline(text) : code.replaceAll('-', ' '));
}
