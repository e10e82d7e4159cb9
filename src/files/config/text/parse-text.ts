import { Composer, type CST, type Document, Lexer, LineCounter, Parser, YAMLParseError } from 'yaml';
import { failure, type Result, success } from '../../../common/result.js';
import { DEEPEST } from '../../../common/schema/parts.js';
import type { Issue, Problem } from '../../../common/schema/problem.js';
import { Locator } from './locate.js';
import { syntaxProblems, TOO_DEEP } from './syntax-problems.js';
import { NodeReader } from './yaml-nodes.js';

/** The data of a file, and the position of each part of it. */
export interface SourceText {
  /** Mappings have no prototype, so any name is just a name. Integers beyond 2^53 are bigints. */
  readonly value: unknown;
  /** Finds the positions of issues. @returns problems in the order of the file */
  readonly locate: (issues: readonly Issue[]) => Problem[];
}

export type ParsedText =
  | {
      readonly ok: true;
      readonly source: SourceText;
      /** With `foreignTags`, the places of tags such as `!secret`; without, each such tag is a problem. */
      readonly tags?: readonly Issue[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The most lexemes in a file. While it runs, the parser needs about 350 bytes for each. */
const MOST_LEXEMES = 1_000_000;

/**
 * Parses YAML 1.2, and with it JSON. Never throws: whatever is wrong with the text is a problem with its
 * position. Takes about a millisecond for 1 KiB, so the main thread must not call this while it serves lines.
 * @param mostValues the most values, with aliases followed
 * @param foreignTags lists the tags of other programs, and makes their values null: nothing that they name is
 * read
 */
export function parseText(text: string, mostValues?: number, foreignTags = false): ParsedText {
  const lines = new LineCounter();
  const tokens = tokensOf(text, lines);
  if (!tokens.ok) return failed(tokens.error);
  const document = compose(tokens.value, text.length);
  const warnings = document.warnings.filter(({ code }) => !foreignTags || code !== 'TAG_RESOLVE_FAILED');
  const mistakes = [...document.errors, ...warnings];
  if (mistakes.length > 0) return { ok: false, problems: syntaxProblems(text, mistakes, lines) };
  const reader = new NodeReader(mostValues, foreignTags);
  const value = reader.read(document.contents, [], 0);
  if (reader.tooMuch) return failed(reader.tooMuch);
  const locator = new Locator(document.contents, reader.targets, lines);
  if (reader.issues.length > 0) return { ok: false, problems: locator.locate(reader.issues) };
  return { ok: true, source: { value, locate: (issues) => locator.locate(issues) }, tags: reader.tags };
}

function failed(message: string): ParsedText {
  return { ok: false, problems: [{ path: '', message }] };
}

/**
 * What the parser has on its stack besides the collections: the document, a scalar, and the lines behind it.
 */
const BESIDES = 3;

/**
 * The tokens of a text, or why the text is refused: it has too many or is nested too deep. The composer is
 * recursive: without this check, deep nesting would leave so little of the stack that the compiler of a
 * regular expression may end the whole process.
 */
function tokensOf(text: string, lines: LineCounter): Result<CST.Token[]> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens: CST.Token[] = [];
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > MOST_LEXEMES) {
      return failure(
        `more than ${MOST_LEXEMES} words, signs and spaces; values that are equal need only one entry`,
      );
    }
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > DEEPEST + BESIDES) return failure(TOO_DEEP);
  }
  for (const token of parser.end()) tokens.push(token);
  return success(tokens);
}

/** Composes the first document of a text. A second one is reported as a mistake of the first. */
function compose(tokens: readonly CST.Token[], length: number): Document.Parsed {
  // The reader checks that keys are unique, because the library would compare every key with every other.
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, intAsBigInt: true });
  const [first, second] = composer.compose(tokens, true, length);
  if (second) first?.errors.push(new YAMLParseError([second.range[0], second.range[1]], 'MULTIPLE_DOCS', ''));
  return first as Document.Parsed;
}
