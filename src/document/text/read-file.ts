import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { failure, type Result, success } from '../../common/result.js';
import { type ParsedText, parseText } from './parse-text.js';

/** Maximum size of a configuration file, in bytes. */
export const LARGEST_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const STANDARD_INPUT = 0;

/** Reads and parses a configuration file. Never throws: a file that can't be read is a problem of one line. */
export function readConfigFile(path: string): ParsedText {
  return parsed(readText(path, LARGEST_BYTES));
}

/** Does the same with standard input, up to its end. */
export function readConfigInput(): ParsedText {
  return parsed(decoded(atMost(LARGEST_BYTES, (most) => readAtMost(STANDARD_INPUT, most))));
}

function parsed(text: Result<string>): ParsedText {
  return text.ok
    ? parseText(text.value)
    : { ok: false, problems: [{ path: '', message: text.error }], unread: true };
}

/** Reads a file of UTF-8 text. Never throws. @param most the maximum size in bytes */
export function readText(path: string, most: number): Result<string> {
  return decoded(readBytes(path, most));
}

function decoded(read: Result<Buffer>): Result<string> {
  if (!read.ok) return read;
  try {
    return success(new TextDecoder('utf-8', { fatal: true }).decode(read.value));
  } catch {
    return failure('is not UTF-8 text');
  }
}

/** Reads a file of any bytes. Never throws. @param most the maximum size in bytes */
export function readBytes(path: string, most: number): Result<Buffer> {
  return atMost(most, (length) => {
    const stat = statSync(path);
    if (stat.isDirectory()) return 'is a directory, expected a file';
    // Reading from a pipe or a device could wait or continue forever.
    if (!stat.isFile()) return 'is not a regular file';
    const file = openSync(path, 'r');
    try {
      return readAtMost(file, length);
    } finally {
      closeSync(file);
    }
  });
}

/**
 * Returns what `read` returns, or a failure if it is longer than `most` bytes.
 * @param read gets the number of bytes to read (`most` + 1); returns the bytes, or an error text
 */
function atMost(most: number, read: (length: number) => Buffer | string): Result<Buffer> {
  try {
    const bytes = read(most + 1);
    if (typeof bytes === 'string') return failure(bytes);
    return bytes.length > most ? failure(`is too large: more than ${most} bytes`) : success(bytes);
  } catch (error) {
    return failure(reasonOf(error));
  }
}

/**
 * Reads the first bytes of an open file. The size of the file is not used: a file in /proc has size 0,
 * whatever it contains.
 */
function readAtMost(file: number, most: number): Buffer {
  const pieces: Buffer[] = [];
  for (let left = most; left > 0; ) {
    const piece = Buffer.alloc(Math.min(left, PIECE_BYTES));
    const length = readSync(file, piece);
    if (length === 0) break;
    pieces.push(piece.subarray(0, length));
    left -= length;
  }
  return Buffer.concat(pieces);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: "can't be read (permission denied)",
  ELOOP: 'is a symbolic link to itself',
  ENAMETOOLONG: 'its name is too long',
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? `can't be read: ${error instanceof Error ? error.message : String(error)}`;
}
