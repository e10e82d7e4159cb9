import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { dist } from '../support/program.mjs';

/** A net for a program that hangs, below that of the tests; its exit code is null then. */
const RUN_LIMIT_MS = 150_000;

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
