import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * How strong the tests are: changes the code of a room in one place at a time, and counts the changes that a test of the room notices
 * (mutation testing, Stryker). `node scripts/mutants.mjs [ROOM...]`; a room takes 3 to 30 minutes. `node scripts/mutants.mjs ROOM FILE.ts...`
 * changes only these files, named from the top folder on. Works in a copy of what is committed.
 */

/** What is changed, and the tests that should notice: those of the room, and of its neighbour where the neighbour is what it is made for. @type {Readonly<Record<string, readonly [mutate: string, tests: string]>>} */
const ROOMS = {
  protocol: ['src/protocol/**/*.ts', 'test/protocol/**/*.test.ts'],
  registers: ['src/registers/**/*.ts', 'test/{registers,device}/**/*.test.ts'],
  faults: ['src/faults/**/*.ts', 'test/{faults,bus}/**/*.test.ts'],
  signals: ['src/signals/**/*.ts', 'test/signals/**/*.test.ts'],
  device: ['src/device/**/*.ts', 'test/device/**/*.test.ts'],
  framers: ['src/transport/framer/**/*.ts', 'test/transport/{framer,serial}/**/*.test.ts'],
  verdicts: ['src/testing/examine/trial/verdict.ts', 'test/testing/examine/{verdict,core}.test.ts'],
};
/** Fails with few tries, because they do not make every kind of request. It is no part of the quick tests. */
const OF_MANY_TRIES = 'test/device/hostile-requests.test.ts';
const STRYKER = ['@stryker-mutator/core@9', '@stryker-mutator/vitest-runner@9'];

const files = process.argv.slice(2).filter((each) => each.endsWith('.ts'));
const wanted = process.argv.slice(2).filter((each) => !files.includes(each));
const unknown = wanted.filter((room) => !(room in ROOMS));
if (unknown.length > 0) {
  console.error(`unknown room ${unknown.join(', ')} (known: ${Object.keys(ROOMS).join(', ')})`);
  process.exit(2);
}
if (files.length > 0 && wanted.length !== 1) {
  console.error('files need the one room whose tests are to notice the changes');
  process.exit(2);
}

const copy = mkdtempSync(join(tmpdir(), 'mutants-'));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
execFileSync('git', ['clone', '-q', '.', copy]);
cpSync('node_modules', join(copy, 'node_modules'), { recursive: true, verbatimSymlinks: true });
execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', ...STRYKER], {
  cwd: copy,
  stdio: 'inherit',
});

console.log(
  '| room | mutants | noticed | survived | no test | share |\n| --- | --- | --- | --- | --- | --- |',
);
for (const room of wanted.length > 0 ? wanted : Object.keys(ROOMS)) {
  const [mutate, tests] = /** @type {readonly [string, string]} */ (ROOMS[room]);
  const report = join(copy, 'mutants.json');
  // A property is tried a few times for each mutant: what more tries alone would notice counts as not noticed.
  writeFileSync(
    join(copy, 'few-tries.js'),
    `import fc from '${pathToFileURL(join(copy, 'node_modules/fast-check/lib/fast-check.js'))}';
    const assert = (property, settings) => fc.assert(property, { ...settings, numRuns: 20 });
    export default { ...fc, assert };`,
  );
  writeFileSync(
    join(copy, 'vitest.mutants.config.js'),
    // Stryker asks for threads, in which serialport can end the whole run. One process runs all files of a mutant.
    `const forks = ({ vitest, project }) => { vitest.config.pool = project.config.pool = 'forks'; };
    export default {
      test: { include: ['${tests}'], exclude: ['${OF_MANY_TRIES}'], testTimeout: 20_000, isolate: false },
      plugins: [{ name: 'forks', configureVitest: forks }],
      resolve: { alias: { 'fast-check': '${join(copy, 'few-tries.js')}' } },
    };`,
  );
  const settings = {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'vitest.mutants.config.js' },
    // TypeScript 7 has not the functions that Stryker reads a tsconfig.json with, and vitest needs none.
    tsconfigFile: 'none.json',
    mutate: files.length > 0 ? files : [mutate],
    // A change in what a module does when it is loaded would need all tests again, in a new process.
    ignoreStatic: true,
    concurrency: 1,
    reporters: ['json', 'clear-text', 'progress-append-only'],
    clearTextReporter: { reportTests: false, reportScoreTable: false, allowColor: false },
    jsonReporter: { fileName: report },
  };
  writeFileSync(join(copy, 'stryker.config.json'), JSON.stringify(settings));
  rmSync(report, { force: true });
  // The mutants that survive, with their lines, go to standard error.
  spawnSync('npx', ['stryker', 'run'], { cwd: copy, stdio: ['ignore', process.stderr, process.stderr] });
  console.log(row(room, report));
}

/** @param {string} room @param {string} report */
function row(room, report) {
  /** @type {{files: Record<string, {mutants: {status: string}[]}>}} */
  const { files } = JSON.parse(readFileSync(report, 'utf8'));
  const all = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const count = (/** @type {string[]} */ ...statuses) =>
    all.filter((status) => statuses.includes(status)).length;
  const [noticed, survived, untested] = [count('Killed', 'Timeout'), count('Survived'), count('NoCoverage')];
  const total = noticed + survived + untested;
  return `| ${room} | ${total} | ${noticed} | ${survived} | ${untested} | ${((100 * noticed) / total).toFixed(1)} % |`;
}
