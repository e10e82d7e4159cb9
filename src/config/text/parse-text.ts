import { Composer, type CST, type Document, Lexer, LineCounter, Parser, YAMLParseError } from 'yaml';
import type { Issue, Problem } from '../../schema/problem.js';
import { Locator, place } from './locate.js';
import { findUnclosed } from './unclosed.js';
import { DEEPEST, NodeReader } from './yaml-nodes.js';

/** The data of a file, and where each part of it stands. */
export interface SourceText {
  /** Mappings have no prototype, so any name is just a name. Integers beyond 2^53 are bigints. */
  readonly value: unknown;
  /** Issues with their places, in the order of the file. */
  readonly locate: (issues: readonly Issue[]) => Problem[];
}

export type ParsedText =
  | { readonly ok: true; readonly source: SourceText }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The most lexemes in a file. The parser keeps some 350 bytes for each of them while it runs. */
const MOST_LEXEMES = 1_000_000;

/** Lexemes between two moments at which parsing can pause: about a millisecond of work. */
const LEXEMES_AT_ONCE = 256;

/** Parses YAML 1.2, and with it JSON. Never throws: whatever is wrong with the text is a problem with its place. */
export function parseText(text: string): ParsedText {
  const parsing = parsingText(text);
  for (;;) {
    const { done, value } = parsing.next();
    if (done) return value;
  }
}

/**
 * The same with pauses while the text is read. What follows, making nodes and values of what was read, has none: it takes
 * about a millisecond for 2 KiB.
 */
export function* parsingText(text: string): Generator<void, ParsedText> {
  const excess = yield* findExcess(text);
  if (excess !== undefined) return failed(excess);
  const lines = new LineCounter();
  let document: Document.Parsed | undefined;
  try {
    document = yield* documentOf(text, lines);
  } catch (error) {
    // The library's composer is recursive, so deep nesting overflows the stack.
    if (error instanceof RangeError) return failed(TOO_DEEP);
    throw error;
  }
  const mistakes = [...document.errors, ...document.warnings];
  if (mistakes.length > 0) return { ok: false, problems: syntaxProblems(text, mistakes, lines) };
  const reader = new NodeReader();
  const value = reader.read(document.contents, [], 0);
  if (reader.tooMuch) return failed(reader.tooMuch);
  const locator = new Locator(document.contents, reader.targets, lines);
  if (reader.issues.length > 0) return { ok: false, problems: locator.locate(reader.issues) };
  return { ok: true, source: { value, locate: (issues) => locator.locate(issues) } };
}

/** What the library's `parseDocument` does, with pauses. */
function* documentOf(text: string, lines: LineCounter): Generator<void, Document.Parsed> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens: CST.Token[] = [];
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    if (++count % LEXEMES_AT_ONCE === 0) yield;
  }
  tokens.push(...parser.end());
  // The reader checks that keys are unique, because the library would compare every key with every other.
  const composer = new Composer({ uniqueKeys: false, intAsBigInt: true });
  const documents = [...composer.compose(tokens, true, text.length)] as Document.Parsed[];
  const [document, second] = documents as [Document.Parsed, ...Document.Parsed[]];
  if (second) document.errors.push(new YAMLParseError([...second.range] as never, 'MULTIPLE_DOCS', ''));
  return document;
}

const TOO_DEEP = `nested more than ${DEEPEST} levels deep`;

function failed(message: string): ParsedText {
  return { ok: false, problems: [{ path: '', message }] };
}

/** Finds, before parsing, what would make the library run out of memory or stack. */
function* findExcess(text: string): Generator<void, string | undefined> {
  let count = 0;
  let depth = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > MOST_LEXEMES) {
      return `more than ${MOST_LEXEMES} words, signs and spaces; values that are equal need only one entry`;
    }
    if (lexeme === '[' || lexeme === '{') depth++;
    if (lexeme === ']' || lexeme === '}') depth--;
    if (depth > DEEPEST) return TOO_DEEP;
    if (count % LEXEMES_AT_ONCE === 0) yield;
  }
  return undefined;
}

type Mistake = Document.Parsed['errors'][number] | Document.Parsed['warnings'][number];

/** The library's message for a missing bracket, reported where the library noticed it. */
const MISSING_BRACKET = /^Flow (?:map|sequence) .*end with a [}\]]$/;

/** One problem for each place. Further errors at the same place only follow from the first. */
function syntaxProblems(text: string, mistakes: readonly Mistake[], lines: LineCounter): Problem[] {
  const problems = new Map<number, Problem>();
  const tell = (offset: number, message: string) => {
    if (!problems.has(offset)) problems.set(offset, { path: '', message, ...place(lines, offset) });
  };
  const isMissing = ({ message }: Mistake) => MISSING_BRACKET.test(message);
  const unclosed = mistakes.some(isMissing) ? findUnclosed(text) : undefined;
  if (unclosed) tell(unclosed.offset, `this ${unclosed.bracket} is not closed`);
  for (const mistake of mistakes) {
    const { code, message, pos } = mistake;
    if (!unclosed || !isMissing(mistake)) tell(pos[0], SAID[code] ?? message);
  }
  return [...problems].sort(([a], [b]) => a - b).map(([, problem]) => problem);
}

const SAID: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'more than one document in the file',
  RESOURCE_EXHAUSTION: TOO_DEEP,
};
