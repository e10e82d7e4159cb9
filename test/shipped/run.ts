import { spawn } from 'node:child_process';
import { expect } from 'vitest';
import { mainOf, type Shipped } from './packages.js';

/** A net for a command that hangs; its exit code is null then. */
const RUN_LIMIT_MS = 150_000;

/** A line of a stack trace of Node. */
const STACK_TRACE = /^ +at .*:\d+:\d+\)?$/m;

/** What a command has printed, on both of its outputs. */
export interface Ended {
  readonly code: number | null;
  readonly printed: string;
}

/** Fails for a program that has ended with a stack trace, whatever its exit code was. */
export function expectNoStackTrace(printed: string): void {
  expect(printed).not.toMatch(STACK_TRACE);
}

/**
 * Runs a command of a package to its end.
 * @param until the command is interrupted (SIGINT) as soon as it has printed this
 * @param onTerminal whether it gets a terminal in place of pipes
 */
export async function run(
  shipped: Shipped,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  {
    until,
    onTerminal,
  }: { readonly until?: RegExp | undefined; readonly onTerminal?: boolean | undefined } = {},
): Promise<Ended> {
  const words = [process.execPath, mainOf(shipped), ...args];
  const quoted = words.map((word) => `'${word}'`).join(' ');
  // script(1) gives the program a terminal.
  const [command = '', ...rest] = onTerminal ? ['script', '-qec', quoted, '/dev/null'] : words;
  const child = spawn(command, rest, { env, timeout: RUN_LIMIT_MS, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let isInterrupted = false;
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (isInterrupted || !until?.test(printed)) return;
      isInterrupted = true;
      child.kill('SIGINT');
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  expectNoStackTrace(printed);
  return { code, printed };
}
