import { Composer, type CST, type Document, Lexer, LineCounter, Parser, YAMLParseError } from 'yaml';
import { failure, type Result, success } from '../../common/result.js';
import { DEEPEST } from '../../common/schema/parts.js';
import type { Issue, Problem } from '../../common/schema/problem.js';
import { counted } from '../../common/words.js';
import { Locator, NodeReader, position } from './yaml-nodes.js';

type Mistake = Document.Parsed['errors'][number] | Document.Parsed['warnings'][number];

/** The library's message for a missing bracket, at the position where the library noticed it. */
const MISSING_BRACKET = /^Flow (?:map|sequence) .*end with a [}\]]$/;

/**
 * Returns the problems in a string: one for each position, because further errors at the same position only
 * follow from the first.
 */
function syntaxProblems(text: string, mistakes: readonly Mistake[], lines: LineCounter): Problem[] {
  const problems = new Map<number, Problem>();
  const report = (offset: number, message: string) => {
    if (!problems.has(offset)) problems.set(offset, { path: '', message, ...position(lines, offset) });
  };
  const isMissing = ({ message }: Mistake) => MISSING_BRACKET.test(message);
  const unclosed = mistakes.some(isMissing) ? findUnclosed(text) : undefined;
  if (unclosed) report(unclosed.offset, `this ${unclosed.bracket} is not closed`);
  const indented = mistakes.some(({ code }) => OF_INDENTATION.has(code)) ? misindentedLines(text) : [];
  /**
   * The line of the last indentation mistake: other errors that the library reports for the same line follow
   * from it.
   */
  let said = 0;
  for (const mistake of mistakes) {
    const { code, message, pos } = mistake;
    if (unclosed && isMissing(mistake)) continue;
    const { line } = position(lines, pos[0]);
    const found = OF_INDENTATION.has(code)
      ? indented.find((each) => each.line === line || each.line === line + 1)
      : undefined;
    if (found) {
      said = found.line;
      report(lines.lineStarts[found.line - 1] as number, found.message);
    } else if (line !== said) report(pos[0], inWords(code, message));
  }
  return [...problems].sort(([a], [b]) => a - b).map(([, problem]) => problem);
}

/** The library's codes for an indentation that matches no line around it; some are also used for other mistakes. */
const OF_INDENTATION = new Set<string>([
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'MULTILINE_IMPLICIT_KEY',
  'MISSING_CHAR',
]);

const TOO_DEEP = `nested more than ${DEEPEST} levels deep`;

const NO_COLON = 'expected a key, a colon and a space, as in "key: value"';

const SAID: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'more than one document in the file',
  RESOURCE_EXHAUSTION: TOO_DEEP,
  TAB_AS_INDENT: 'a tab at the beginning of the line: indent it with spaces',
  BAD_SCALAR_START: "a value can't begin with this character: put it in quotes",
  MULTILINE_IMPLICIT_KEY: NO_COLON,
  BLOCK_AS_IMPLICIT_KEY:
    'a second colon with a space in one line: put the value in quotes, or its keys in {}',
};

/** The library's messages that share a code with others. */
const SAID_OF: readonly (readonly [message: RegExp, text: string])[] = [
  [/^Missing closing .quote/, 'text before this has an opening quote but no closing quote'],
  [/^Implicit map keys need to be followed/, NO_COLON],
];

function inWords(code: string, message: string): string {
  return SAID_OF.find(([pattern]) => pattern.test(message))?.[1] ?? SAID[code] ?? message;
}

interface Misindented {
  /** Counted from 1. */
  readonly line: number;
  readonly message: string;
}

/**
 * Finds lines whose indentation matches no line around them. Lines inside brackets and text blocks are
 * skipped. The result is only a guess, so it is used only if the library has found a mistake.
 */
function misindentedLines(text: string): Misindented[] {
  const found: Misindented[] = [];
  /** The indentations of the open blocks, innermost last. */
  let open = [0];
  let mayOpen = true;
  let depth = 0;
  let textDeeperThan = Number.POSITIVE_INFINITY;
  text.split(/\r?\n/).forEach((whole, i) => {
    const content = whole.replace(/(^|\s)#.*$/, '').trimEnd();
    const indent = content.length - content.trimStart().length;
    if (content === '' || indent > textDeeperThan) return;
    textDeeperThan = Number.POSITIVE_INFINITY;
    const isInside = depth > 0;
    depth = Math.max(0, depth + count(content, /[{[]/g) - count(content, /[}\]]/g));
    if (isInside) return;
    const around = open.filter((each) => each <= indent);
    const wasDeeper = around.length < open.length;
    const innermost = around.at(-1) ?? 0;
    if (innermost < indent && (wasDeeper || !mayOpen)) {
      const near = [...new Set([innermost, ...(wasDeeper ? [open[around.length] as number] : [])])];
      const others = near.map(String).join(' or ');
      found.push({
        line: i + 1,
        message: `this line is indented by ${counted(indent, 'space')}; the lines around it by ${others}`,
      });
      return;
    }
    const dashes = /^(?:- +)*/.exec(content.trimStart())?.[0].length ?? 0;
    open = [...around, ...(innermost < indent || around.length === 0 ? [indent] : [])];
    if (dashes > 0) open.push(indent + dashes);
    mayOpen = /(?:^|\s)-$|:(?:\s+[&!][^\s]+)*$/.test(content);
    if (/[:-]\s+(?:[&!]\S+\s+)*[|>][-+\d]*$/.test(content)) textDeeperThan = indent;
  });
  return found;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** An opening bracket that is not closed. */
interface Unclosed {
  readonly bracket: '{' | '[';
  readonly offset: number;
}

const CLOSED_BY = { '{': '}', '[': ']' } as const;

/** Markers that the library's lexer inserts: the beginning of a document, an early end, a scalar. */
const DOCUMENT = '\x02';
const FLOW_END = '\x18';
const SCALAR = '\x1f';

/**
 * Finds the bracket that is probably not closed. The library reports only where it can't continue: the next
 * line or the end of the file. If a closing bracket begins a line that is indented less than the line of the
 * innermost open bracket, it belongs to another bracket, so the innermost one is not closed.
 */
function findUnclosed(text: string): Unclosed | undefined {
  const open: (Unclosed & { readonly indent: number })[] = [];
  let offset = 0;
  let lineStart = 0;
  /** Spaces before the first lexeme of the line; undefined before that lexeme. */
  let indent: number | undefined;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === FLOW_END && open.length > 0) return open.at(-1);
    if (lexeme === DOCUMENT || lexeme === FLOW_END || lexeme === SCALAR) continue;
    const beginsLine = indent === undefined && lexeme.trim() !== '';
    if (beginsLine) indent = offset - lineStart;
    if (lexeme === '{' || lexeme === '[') open.push({ bracket: lexeme, offset, indent: indent ?? 0 });
    if (lexeme === '}' || lexeme === ']') {
      const innermost = open.pop();
      const isFurtherOut = beginsLine && innermost && (indent ?? 0) < innermost.indent;
      if (innermost && (isFurtherOut || CLOSED_BY[innermost.bracket] !== lexeme)) return innermost;
    }
    const newline = lexeme.lastIndexOf('\n');
    if (newline >= 0) [lineStart, indent] = [offset + newline + 1, undefined];
    offset += lexeme.length;
  }
  return open.at(-1);
}

/** The data of a file, and the position of each part of it. */
export interface SourceText {
  /** Mappings have no prototype, so names have no special meaning. Integers beyond 2^53 are bigints. */
  readonly value: unknown;
  /** Finds the positions of issues. @returns problems in the order of the file */
  readonly locate: (issues: readonly Issue[]) => Problem[];
}

export type ParsedText =
  | {
      readonly ok: true;
      readonly source: SourceText;
      /** In a file of another program: its tags and repeated keys. In ours, they are problems. */
      readonly tags?: readonly Issue[];
      readonly repeated?: readonly Issue[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly Problem[];
      /** The file itself could not be read. */
      readonly unread?: true;
    };

/** Maximum lexemes in a file. While it runs, the parser needs about 350 bytes for each. */
const MOST_LEXEMES = 1_000_000;

/**
 * Parses YAML 1.2, and therefore JSON. Never throws: whatever is wrong with the text is a problem with its
 * position. Takes about a millisecond per KiB, so the main thread must not call this while it serves lines.
 * @param mostValues the maximum number of values, with aliases followed
 * @param isForeign whether the file belongs to another program: its tags, such as `!secret`, are listed and
 * their values are null, and the last value of a repeated key counts
 */
export function parseText(text: string, mostValues?: number, isForeign = false): ParsedText {
  const lines = new LineCounter();
  const tokens = tokensOf(text, lines);
  if (!tokens.ok) return failed(tokens.error);
  const document = compose(tokens.value, text.length);
  const warnings = document.warnings.filter(({ code }) => !isForeign || code !== 'TAG_RESOLVE_FAILED');
  const mistakes = [...document.errors, ...warnings];
  if (mistakes.length > 0) return { ok: false, problems: syntaxProblems(text, mistakes, lines) };
  const reader = new NodeReader(mostValues, isForeign);
  const value = reader.read(document.contents, [], 0);
  if (reader.tooMuch) return failed(reader.tooMuch);
  const locator = new Locator(document.contents, reader.targets, lines);
  if (reader.issues.length > 0) return { ok: false, problems: locator.locate(reader.issues) };
  return {
    ok: true,
    source: { value, locate: (issues) => locator.locate(issues) },
    tags: reader.tags,
    repeated: reader.repeated,
  };
}

function failed(message: string): ParsedText {
  return { ok: false, problems: [{ path: '', message }] };
}

/** What the parser has on its stack besides the collections: the document, a scalar, and the lines after it. */
const BESIDES = 3;

/**
 * Returns the tokens of a string, or why the string is refused: it has too many or is nested too deeply. The
 * composer is recursive: without this check, deep nesting would leave so little stack that compiling a
 * regular expression might crash the whole process.
 */
function tokensOf(text: string, lines: LineCounter): Result<CST.Token[]> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens: CST.Token[] = [];
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > MOST_LEXEMES) {
      return failure(`more than ${MOST_LEXEMES} words, signs and spaces; equal values can share one entry`);
    }
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > DEEPEST + BESIDES) return failure(TOO_DEEP);
  }
  for (const token of parser.end()) tokens.push(token);
  return success(tokens);
}

/** Composes the first document of a string. A second one is reported as a mistake in the first. */
function compose(tokens: readonly CST.Token[], length: number): Document.Parsed {
  // The reader checks that keys are unique, because the library would compare every key with every other.
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, intAsBigInt: true });
  const [first, second] = composer.compose(tokens, true, length);
  if (second) first?.errors.push(new YAMLParseError([second.range[0], second.range[1]], 'MULTIPLE_DOCS', ''));
  return first as Document.Parsed;
}
