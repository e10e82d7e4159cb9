/**
 * Runs lint and the quick tests in parallel, on two cores: node scripts/test.mjs [ARGUMENTS OF VITEST]
 * The output of lint comes last.
 */
import { spawn } from 'node:child_process';
import { getPriority, setPriority } from 'node:os';

const { execPath } = process;
const { npm_execpath: npm } = process.env;
const [command = 'npm', ...first] = npm === undefined ? [] : [execPath, npm];

const lint = spawn(command, [...first, 'run', '--silent', 'lint'], { stdio: ['ignore', 'pipe', 'pipe'] });
/** It computes only, and leaves the processor to tests that run in real time. */
const LINT_NICENESS = 5;
if (lint.pid !== undefined && getPriority() < LINT_NICENESS) setPriority(lint.pid, LINT_NICENESS);
let said = '';
for (const stream of [lint.stdout, lint.stderr]) {
  stream.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
}
const quick = ['run', '--project', 'alone', '--project', 'quick'];
const tests = spawn(execPath, ['node_modules/vitest/vitest.mjs', ...quick, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => {
    lint.kill(signal);
    tests.kill(signal);
  });
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number>} the exit code; 1 after a signal, or if it could not be started
 */
function exitCode(child) {
  return new Promise((resolve) => {
    child.once('close', (code) => resolve(code ?? 1)).once('error', () => resolve(1));
  });
}

const [linted, tested] = await Promise.all([exitCode(lint), exitCode(tests)]);
process.stdout.write(said);
if (linted !== 0) console.log(`lint: exit code ${linted}`);
process.exit(linted === 0 ? tested : 1);
