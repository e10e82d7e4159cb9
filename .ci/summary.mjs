// Sums up the reports of test runs: names what failed, then counts. The last line is "N passed, N failed[, N skipped]".
import { readFileSync } from 'node:fs';

const runs = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const files = runs.flatMap(({ testResults }) => testResults);
// A file that does not load has no test to count: it counts as one that failed.
const broken = files.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
);
for (const { name, message } of broken) console.log(`did not load: ${name}\n  ${message.split('\n')[0]}`);
for (const { name, assertionResults } of files) {
  for (const { status, fullName, failureMessages } of assertionResults) {
    if (status !== 'failed') continue;
    console.log(`failed: ${name} > ${fullName}\n  ${failureMessages.join('\n').split('\n')[0]}`);
  }
}
const sum = (count) => runs.reduce((total, run) => total + count(run), 0);
const passed = sum(({ numPassedTests }) => numPassedTests);
const failed = sum(({ numFailedTests }) => numFailedTests) + broken.length;
const skipped = sum(({ numPendingTests, numTodoTests }) => numPendingTests + numTodoTests);
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
