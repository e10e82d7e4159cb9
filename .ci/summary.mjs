// Sums up the report of a test run: names what failed and what needed a second try, then counts. The last line is
// "N passed, N failed[, N skipped]". Exit code 1 when too many tests needed a second try.
import { readFileSync } from 'node:fs';

/** A machine that is busy may spoil one or two tests that wait for something; more are a mistake in the tests. */
const MOST_SECOND_TRIES = 3;

const run = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const tests = run.testResults.flatMap((file) =>
  file.assertionResults.map((test) => ({ ...test, file: file.name })),
);
const failed = tests.filter(({ status }) => status === 'failed');
// A file that does not load has no test to count: it counts as one that failed.
const broken = run.testResults.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
);
const again = tests.filter(
  ({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0,
);

const tell = (what, { file, fullName, failureMessages }) =>
  console.log(`${what}: ${file} > ${fullName}\n  ${failureMessages.join('\n').split('\n')[0]}`);
for (const file of broken) console.log(`did not load: ${file.name}\n  ${file.message.split('\n')[0]}`);
for (const test of failed) tell('failed', test);
for (const test of again) tell('passed at the second try', test);
if (again.length > MOST_SECOND_TRIES) {
  console.log(`${again.length} tests needed a second try, at most ${MOST_SECOND_TRIES} may`);
  process.exitCode = 1;
}
const skipped = run.numPendingTests + run.numTodoTests;
console.log(
  `${run.numPassedTests} passed, ${run.numFailedTests + broken.length} failed${skipped ? `, ${skipped} skipped` : ''}`,
);
