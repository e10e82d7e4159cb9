import { listText } from '../../../common/words.js';
import type { Did, DidOften } from '../reading.js';
import { answerText, codeText, timeText } from '../words.js';
import { type Oddity, oddityText } from './oddities.js';
import { HOWS, type How } from './phrases.js';

const often = (did: DidOften) =>
  `${did.kind === 'silent' ? 'gave no answer' : answerText(did)} (${did.times} times)`;
const functionsText = (codes: readonly number[]) =>
  `${codes.length === 1 ? 'function' : 'functions'} ${listText(codes.map(String))} ${codes.length === 1 ? 'is' : 'are'}`;

/** The kinds of facts, and how each is formatted. Times are in ms. */
const KINDS = {
  n: String as (fact: number) => string,
  s: (fact: string) => fact,
  ms: timeText,
  hex: codeText,
  oddity: (fact: Oddity) => oddityText(fact),
  /** `03 or 02`. */
  hexOr: (fact: readonly number[]) => fact.map(codeText).join(' or '),
  hexes: (fact: readonly number[]) => listText(fact.map(codeText)),
  list: (fact: readonly number[]) => listText(fact.map(String)),
  words: (fact: readonly number[]) => fact.join(' '),
  texts: (fact: readonly string[]) => fact.join(', '),
  did: (fact: Did) => answerText(fact),
  dids: (fact: readonly Did[]) => listText(fact.map(answerText)),
  /** `gave no answer (3 times) and closed the connection (2 times)`. */
  often: (fact: readonly DidOften[]) => listText(fact.map(often)),
  /** `functions 5 and 6 are`. */
  functions: functionsText,
  requests: (fact: number) => `${fact} ${fact === 1 ? 'request' : 'requests'}`,
  registers: (fact: number) => `${fact} ${fact === 1 ? 'register' : 'registers'}`,
  how: (fact: How) => HOWS[fact],
  /** `the first values of `, if a map is too large to be read completely. */
  cut: (fact: boolean) => (fact ? 'the first values of ' : ''),
} as const;

type Kind = keyof typeof KINDS;
type Fact<K> = K extends Kind ? Parameters<(typeof KINDS)[K]>[0] : never;

/** The facts for which a text has placeholders: `{times:n} of {of:n}`; `{mei?:n}` may be absent. */
export type FactsIn<Text extends string> = Text extends `${string}{${infer Name}:${infer K}}${infer Rest}`
  ? (Name extends `${infer Key}?`
      ? { readonly [each in Key]?: Fact<K> }
      : { readonly [each in Name]: Fact<K> }) &
      FactsIn<Rest>
  : unknown;

const PART = /\[([^\]]*)\]/g;
const PLACE = /\{(\w+)\??:(\w+)\}/g;

/** Fills facts into a text. A part in brackets is left out if one of its facts is absent. */
export function worded(text: string, facts: Readonly<Record<string, unknown>>): string {
  const isKnown = (part: string) =>
    [...part.matchAll(PLACE)].every(([, name = '']) => facts[name] !== undefined);
  return text
    .replace(PART, (_, part: string) => (isKnown(part) ? part : ''))
    .replace(PLACE, (_, name: string, kind: Kind) => (KINDS[kind] as (fact: unknown) => string)(facts[name]));
}

/** A text with the names of its facts as placeholders: `{times} of {of}`. */
export function outline(text: string): string {
  return text.replace(PLACE, (_, name: string) => `{${name}}`).replace(PART, (_, part: string) => part);
}
