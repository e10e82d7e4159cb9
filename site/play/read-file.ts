import { readFileSync } from 'node:fs';
import { type ParsedText, parseText } from '../../src/document/text/parse-text.js';

/** Reads a file of the program: in place of the reader of any file (src/document/text/read-file.ts). */
export function readConfigFile(path: string): ParsedText {
  return parseText(readFileSync(path, 'utf8'));
}
