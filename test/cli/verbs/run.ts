import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, vi } from 'vitest';
import type { Outlet } from '../../../src/cli/verbs/outlet.js';
import { main } from '../../../src/cli/verbs/run.js';
import { standardError, standardOutput } from '../../../src/cli/verbs/standard.js';
import { STOP_SIGNALS } from '../../../src/cli/verbs/stop-signal.js';
import { EXTENSIONS } from '../../../src/extensions/all.js';
import { dist } from '../../support/program.mjs';

/** A net for a program that hangs, below that of the tests; its exit code is null then. */
const RUN_LIMIT_MS = 150_000;

/** What a command has printed, and its exit code; null after a signal. */
interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program to its end. Its temporary directory is `directory`, where the links of virtual lines go. */
export function run(
  args: readonly string[],
  directory: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { timeout: RUN_LIMIT_MS, env: { ...process.env, TMPDIR: directory, ...env } };
    const child = execFile(
      process.execPath,
      [join(dist, 'main.js'), ...args],
      options,
      (_error, stdout, stderr) => {
        resolve({ code: child.exitCode, stdout, stderr });
      },
    );
  });
}

/**
 * Runs a command in this process, from its arguments to its exit code: a program's start costs a second. For commands that
 * print and end by themselves; one after the other, as what they print is told from each other by time alone.
 */
export async function runHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  const spyOn = (stream: keyof typeof printed, outlet: Outlet) =>
    vi.spyOn(outlet, 'print').mockImplementation((text) => {
      printed[stream] += text;
    });
  const spies = [spyOn('stdout', standardOutput()), spyOn('stderr', standardError())];
  const heard = STOP_SIGNALS.map((signal) => [signal, process.listeners(signal)] as const);
  try {
    return { code: await main(args, environment, EXTENSIONS), ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
    // A command goes on hearing signals until its process ends, which here goes on.
    for (const [signal, before] of heard) {
      for (const listener of process.listeners(signal)) {
        if (!before.includes(listener)) process.off(signal, listener);
      }
    }
  }
}

/** New directories and files for the tests of one file, which are gone after them; call it once, at its top. */
export function scratchSpace() {
  const root = mkdtempSync(join(tmpdir(), 'modbus-sim-main-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const newDirectory = () => mkdtempSync(join(root, 'd-'));
  /** What is no text becomes JSON, which is YAML too. */
  const newFile = (content: unknown, name = 'config.yaml') => {
    const path = join(newDirectory(), name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  return { newDirectory, newFile };
}
