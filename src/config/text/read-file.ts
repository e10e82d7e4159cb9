import { readFileSync, statSync } from 'node:fs';
import { type ParsedText, parseText } from './parse-text.js';

const LARGEST_BYTES = 8 * 1024 * 1024;

/** Reads and parses a configuration file. Never throws: a file that can't be read is a problem of one line. */
export function readConfigFile(path: string): ParsedText {
  const text = readText(path);
  return text.ok ? parseText(text.text) : { ok: false, problems: [{ path: '', message: text.message }] };
}

type ReadText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

function readText(path: string): ReadText {
  let bytes: Buffer;
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) return { ok: false, message: 'is a directory, expected a file' };
    // Reading from a pipe or a device could wait or go on for ever.
    if (!stat.isFile()) return { ok: false, message: 'is not a regular file' };
    if (stat.size > LARGEST_BYTES) {
      return { ok: false, message: `is too large: ${stat.size} bytes, at most ${LARGEST_BYTES}` };
    }
    bytes = readFileSync(path);
  } catch (error) {
    return { ok: false, message: reasonOf(error) };
  }
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { ok: false, message: 'is not UTF-8 text' };
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'may not be read (permission denied)',
  ELOOP: 'is a symbolic link to itself',
  ENAMETOOLONG: 'its name is too long',
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? `can't be read: ${error instanceof Error ? error.message : String(error)}`;
}
