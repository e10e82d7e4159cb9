import { closeSync, openSync, readSync, statSync } from 'node:fs';

/**
 * The kinds of files that each run overwrites, and how to recognise an earlier one. A typing error in a
 * command, such as `--json bench.json`, must not destroy a configuration.
 */
const EARLIER = {
  'JUnit report': /^<\?xml[^>]*>\s*<testsuites/,
  'HTML report': /^<!doctype html>/i,
  'JSON report': /^\s*[[{][\s\S]*"verdict":/,
  'list of benches': /^\[\s*(\]|\{[\s\S]*"(bench|topic)":)/,
  scenario: /^# The client [\s\S]*\nsteps:/,
  capture: /^\n\r\r\n[\s\S]{0,200}modbus-sim/,
} as const;

export type Replaceable = keyof typeof EARLIER;

const HEAD_BYTES = 64 * 1024;

/**
 * Returns why a file must not be overwritten: this program has not written it.
 * @returns a sentence; undefined if the file does not exist, is empty, is an earlier one, or is not a regular
 * file, such as a pipe. Throws the error of the system
 */
export function whyNotReplaced(path: string, kind: Replaceable): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size === 0) return undefined;
  return EARLIER[kind].test(headOf(path))
    ? undefined
    : `${path}: exists and is not an earlier ${kind}, so it is not replaced; remove it, or name another file`;
}

function headOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    return head.toString('latin1', 0, readSync(file, head, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(file);
  }
}
