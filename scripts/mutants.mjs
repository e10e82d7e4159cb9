/**
 * How strong the tests of the quick tier are: Stryker changes the sources of a room in one small way after the other, and counts
 * the changes that the room's tests notice. Not part of CI: a room takes some minutes.
 *
 *   node scripts/mutants.mjs [ROOM...] [--files TEXT] [--share 0.2] [--survivors]
 *
 * --files mutates only files whose path contains TEXT, --share only this share of all blocks of 20 lines (the same ones each time);
 * --survivors prints each mutant that no test noticed.
 * The sources are those of HEAD. Stryker is installed beside a copy of them, in $TMPDIR/modbus-sim-mutants, and not in the project.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** The newest that runs on every Node that the project runs on. */
const STRYKER = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/vitest-runner@9.6.1'];

/**
 * The sources of each room, and the test files that run for each of its mutants: those of the room, and of neighbours that use it.
 * @type {Map<string, { sources: string[], tests: string[] }>}
 */
const ROOMS = new Map(
  Object.entries({
    protocol: { sources: ['src/protocol'], tests: ['protocol', 'transport/framer'] },
    registers: { sources: ['src/registers'], tests: ['registers', 'device'] },
    faults: { sources: ['src/faults'], tests: ['faults'] },
    signals: { sources: ['src/signals'], tests: ['signals', 'device'] },
    device: { sources: ['src/device'], tests: ['device', 'reactions'] },
    framer: { sources: ['src/transport/framer'], tests: ['transport/framer'] },
    verdict: {
      sources: ['verdict', 'observation', 'accepted-value', 'contrast', 'chain'].map(
        (file) => `src/testing/examine/trial/${file}.ts`,
      ),
      tests: ['testing/examine'],
    },
  }),
);

/** Thousands of attacks, which are in the full tier. */
const FULL = [
  'test/device/hostile-requests.test.ts',
  'test/testing/examine/{attempts,error-rates,time-out}.test.ts',
];

/** Lines. */
const BLOCK = 20;

const copy = join(tmpdir(), 'modbus-sim-mutants');

/** @param {string} command @param {string[]} args @param {import('node:child_process').StdioOptions} stdio */
function run(command, args, stdio) {
  const { status, error } = spawnSync(command, args, { cwd: copy, stdio });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `ended with ${status}`}`);
}

function makeCopy() {
  rmSync(join(copy, 'src'), { recursive: true, force: true });
  rmSync(join(copy, 'test'), { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  const archive = spawnSync('git', ['archive', 'HEAD'], { maxBuffer: 1 << 28 });
  const { status } = spawnSync('tar', ['x', '-C', copy], { input: archive.stdout });
  if (archive.status !== 0 || status !== 0) throw new Error('git archive HEAD | tar x failed');
  cpSync('node_modules', join(copy, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  run(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', ...STRYKER],
    ['ignore', 'ignore', 2],
  );
}

/** @param {string} path of a file or a directory of the copy */
function filesBelow(path) {
  if (path.endsWith('.ts')) return [path];
  return readdirSync(join(copy, path), { recursive: true })
    .map((name) => `${path}/${name}`)
    .filter((file) => file.endsWith('.ts'));
}

/**
 * Patterns of Stryker for a share of the blocks of `files`.
 * @param {string[]} files @param {number} share
 */
function blocksOf(files, share) {
  return files.flatMap((file) => {
    const lines = readFileSync(join(copy, file), 'utf8').split('\n').length;
    const starts = Array.from({ length: Math.ceil(lines / BLOCK) }, (_, i) => i * BLOCK + 1);
    const isChosen = (/** @type {number} */ start) =>
      createHash('sha256').update(`${file}:${start}`).digest().readUInt32BE() < share * 2 ** 32;
    return starts.filter(isChosen).map((start) => `${file}:${start}-${start + BLOCK - 1}`);
  });
}

/** @param {string} room @param {{ files?: string, share: number }} options */
function mutate(room, { files = '', share }) {
  const { sources, tests } = ROOMS.get(room) ?? { sources: [], tests: [] };
  const chosen = sources.flatMap((path) => filesBelow(path)).filter((file) => file.includes(files));
  const test = { include: tests.map((each) => `test/${each}/**/*.test.ts`), exclude: FULL, isolate: false };
  // Stryker asks for threads, in which serialport can end the whole run.
  writeFileSync(
    join(copy, 'mutants.vitest.mjs'),
    `const forks = ({ vitest, project }) => { vitest.config.pool = project.config.pool = 'forks'; };
export default { test: ${JSON.stringify(test)}, plugins: [{ name: 'forks', configureVitest: forks }] };
`,
  );
  writeFileSync(
    join(copy, 'mutants.json'),
    JSON.stringify({
      testRunner: 'vitest',
      plugins: ['@stryker-mutator/vitest-runner'],
      vitest: { configFile: 'mutants.vitest.mjs', related: false },
      mutate: share < 1 ? blocksOf(chosen, share) : chosen,
      // The words of messages and descriptions are not behaviour.
      mutator: { excludedMutations: ['StringLiteral', 'Regex'] },
      inPlace: true,
      concurrency: 1,
      coverageAnalysis: 'perTest',
      timeoutMS: 10_000,
      reporters: ['json'],
      jsonReporter: { fileName: `mutants-${room}.report.json` },
      allowEmpty: true,
    }),
  );
  run('node_modules/.bin/stryker', ['run', 'mutants.json'], ['ignore', 2, 2]);
  return JSON.parse(readFileSync(join(copy, `mutants-${room}.report.json`), 'utf8'));
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    files: { type: 'string' },
    share: { type: 'string', default: '1' },
    survivors: { type: 'boolean' },
  },
});
const rooms = positionals.length > 0 ? positionals : [...ROOMS.keys()];
for (const room of rooms)
  if (!ROOMS.has(room)) throw new Error(`${room}: expected ${[...ROOMS.keys()].join(', ')}`);

makeCopy();
process.stdout.write('| room | mutants | killed | survived | score |\n| --- | --- | --- | --- | --- |\n');
for (const room of rooms) {
  const report = mutate(room, { ...values, share: Number(values.share) });
  const mutants = Object.entries(report.files).flatMap(([file, { source, mutants: all }]) =>
    all.map((/** @type {any} */ mutant) => ({
      ...mutant,
      file,
      line: source.split('\n')[mutant.location.start.line - 1].trim(),
    })),
  );
  const killed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout');
  const survived = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const counted = killed.length + survived.length;
  const score = ((100 * killed.length) / counted).toFixed(1);
  process.stdout.write(`| ${room} | ${counted} | ${killed.length} | ${survived.length} | ${score} % |\n`);
  if (!values.survivors) continue;
  for (const { file, location, line, replacement } of survived)
    process.stdout.write(
      `    ${file}:${location.start.line}:${location.start.column} ${line} -> ${replacement.replaceAll(/\s+/g, ' ')}\n`,
    );
}
