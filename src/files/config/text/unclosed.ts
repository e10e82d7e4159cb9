import { Lexer } from 'yaml';

/** A bracket that is opened and not closed. */
export interface Unclosed {
  readonly bracket: '{' | '[';
  readonly offset: number;
}

const CLOSED_BY = { '{': '}', '[': ']' } as const;

/** Markers that the library's lexer inserts: the beginning of a document, an early end, a scalar. */
const DOCUMENT = '\x02';
const FLOW_END = '\x18';
const SCALAR = '\x1f';

/**
 * Finds the bracket that is probably not closed. The library reports only where it can't go on: the next line
 * or the end of the file. When a closing bracket begins a line and is indented less than the line of the
 * innermost open bracket, it belongs to another bracket, so the innermost one is not closed.
 */
export function findUnclosed(text: string): Unclosed | undefined {
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
