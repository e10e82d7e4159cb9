import { spawnSync } from 'node:child_process';
import { describe, it } from 'vitest';

/**
 * Tests with a program that this project does not bring along. Where it is missing (`missing` says what and how to
 * get it) one skipped test says so; in CI, which installs it, that is a failure.
 */
export function describeWithPeer(name: string, missing: string | undefined, suite: () => void): void {
  if (missing === undefined) {
    describe(name, suite);
    return;
  }
  const isRequired = process.env.CI === 'true';
  if (!isRequired) console.warn(`${name}: skipped, ${missing}`);
  describe(name, () => {
    if (isRequired) {
      it('is here', () => {
        throw new Error(`${name}: ${missing}`);
      });
    } else it.skip(`skipped: ${missing}`);
  });
}

/** Whether the program can be started at all; its exit code does not matter. */
export function isInstalled(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).error === undefined;
}
