/**
 * Makes a checkout ready to run with only Node and npm:
 *   node scripts/ready.mjs install          `npm ci`, if node_modules does not match package-lock.json
 *   node scripts/ready.mjs build [--force] [--types]  src -> dist, if a source has changed (or always); with
 * --types, also
 *     the declarations of the library and the manual page, which only packages need
 * Silent and quick if there is nothing to do. It has no dependencies, because it runs before they are
 * installed.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

const STAMP = 'dist/.ready';

const DECLARATIONS = 'dist/library.d.ts';
const MAN_PAGE = 'dist/modbus-sim.1';

/** The schemas in the package for editors. They are generated from the code, like dist. */
const SCHEMAS = ['configuration.json', 'scenario.json', 'catalogue.json'].map((name) => `schema/${name}`);

/** @param {string} text */
function say(text) {
  process.stderr.write(`modbus-sim: ${text}\n`);
}

/** Interval between progress messages of a long step, in ms. */
const PROGRESS_MS = 3000;

/**
 * Runs a command with our terminal; ends this process if it fails.
 * @param {string} what for the message
 * @param {string} command
 * @param {string[]} args
 * @param {{ cleanUp?: () => void, progress?: () => string }} [more] a function to call before ending on
 * failure, and one that returns the progress
 */
async function run(what, command, args, { cleanUp, progress } = {}) {
  // Its standard output goes to our standard error: `npm start` reserves standard output for the program.
  const child = spawn(command, args, { stdio: ['ignore', 2, 2] });
  const timer = progress && setInterval(() => say(progress()), PROGRESS_MS);
  const failure = await new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(`: ${message}`));
    child.once('close', (code) => resolve(code === 0 ? undefined : ''));
  });
  clearInterval(timer);
  if (failure === undefined) return;
  cleanUp?.();
  say(`${what} failed${failure}`);
  process.exit(child.exitCode || 1);
}

/**
 * @typedef {{ version?: string, integrity?: string, dev?: boolean, optional?: boolean, devOptional?: boolean }} Locked
 * @param {string} path
 * @returns {Record<string, Locked>}
 */
function lockedPackages(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages;
}

/**
 * True if npm's own record of what it installed has every package in the lock file. npm writes that record
 * last, so an interrupted installation counts as none.
 * @param {boolean} withDev also the packages needed to build and test
 */
function installed(withDev) {
  const record = 'node_modules/.package-lock.json';
  if (!existsSync(record)) return false;
  const there = lockedPackages(record);
  return Object.entries(lockedPackages('package-lock.json')).every(([path, wanted]) => {
    const found = there[path];
    if (found) return found.version === wanted.version && found.integrity === wanted.integrity;
    const mayBeAbsent = wanted.optional || wanted.devOptional || (wanted.dev && !withDev);
    return path === '' || mayBeAbsent;
  });
}

/** @param {boolean} withDev */
async function install(withDev) {
  if (installed(withDev)) return;
  const wanted = Object.entries(lockedPackages('package-lock.json'))
    .filter(([path, { optional, devOptional }]) => path !== '' && !optional && !devOptional)
    .map(([path]) => `${path}/package.json`);
  say(`installing ${wanted.length} packages and the binaries for this machine (npm ci)`);
  const progress = () => `${wanted.filter((path) => existsSync(path)).length} of ${wanted.length} packages`;
  const npm = process.env.npm_execpath;
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
  if (npm) await run('npm ci', process.execPath, [npm, ...args], { progress });
  else await run('npm ci', 'npm', args, { progress });
}

/**
 * Every file below a folder, as paths from the root, with slashes on every system.
 * @param {string} folder
 * @returns {string[]}
 */
function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(path) : [path];
    })
    .sort();
}

/** The inputs of dist: name, size and time of each source, so that a removed or older file counts too. */
function fingerprint() {
  return [
    ...filesBelow('src'),
    'tsconfig.json',
    'tsconfig.build.json',
    'package-lock.json',
    'scripts/bundle.mjs',
    'scripts/console.mjs',
    'scripts/licences.mjs',
  ]
    .map((path) => {
      const { size, mtimeMs } = statSync(path);
      return `${path} ${size} ${mtimeMs}\n`;
    })
    .join('');
}

/** @param {string} wanted fingerprint of the sources */
function upToDate(wanted) {
  const isThere = ['dist/main.js', STAMP, ...SCHEMAS].every((path) => existsSync(path));
  return isThere && readFileSync(STAMP, 'utf8') === wanted;
}

/**
 * Builds next to dist and moves the files in one by one, so that a failed build leaves the last good one and
 * a program that is starting at that moment finds every file.
 * @param {string} sources fingerprint of the sources, taken before compiling
 */
async function compile(sources) {
  const fresh = `dist.${process.pid}`;
  const cleanUp = () => rmSync(fresh, { recursive: true, force: true });
  // Files that are not code (the styles of the documentation page) are part of the program too.
  const isCopied = (/** @type {string} */ path) =>
    path === 'src/remote/web/base.css' || (!/\.(ts|md)$/.test(path) && !path.startsWith('src/remote/web/'));
  for (const path of filesBelow('src').filter(isCopied)) {
    const copy = path.replace(/^src/, fresh);
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(path, copy);
  }
  const steps = [
    ['the program', 'scripts/bundle.mjs', fresh],
    ['the REST documents', `${fresh}/make-at-build.js`],
    ['the console', 'scripts/console.mjs', `${fresh}/web`],
  ];
  for (const [index, [what = '', ...args]] of steps.entries()) {
    say(`building dist, ${index + 1} of ${steps.length}: ${what}`);
    await run(`building ${what}`, process.execPath, args, { cleanUp });
  }
  rmSync(`${fresh}/make-at-build.js`);
  mkdirSync('schema', { recursive: true });
  for (const path of SCHEMAS) {
    const made = readFileSync(`${fresh}/remote/api/openapi/made/${basename(path)}`, 'utf8');
    writeFileSync(path, `${JSON.stringify(JSON.parse(made), null, 2)}\n`);
  }
  const made = filesBelow(fresh).map((path) => path.replace(fresh, 'dist'));
  for (const path of made) {
    mkdirSync(dirname(path), { recursive: true });
    renameSync(path.replace('dist', fresh), path);
  }
  const kept = new Set(made);
  for (const path of filesBelow('dist')) if (!kept.has(path)) rmSync(path);
  chmodSync('dist/main.js', 0o755);
  writeFileSync(STAMP, sources);
  cleanUp();
}

/** Writes the declarations of the library, and the manual page, next to the program. */
async function declare() {
  say('writing the library declarations and the manual page');
  const { configurationTypes, librarySignatures } = await import('./types/library.mjs');
  writeFileSync(DECLARATIONS, `${librarySignatures()}\n${configurationTypes()}`);
  const { manPage } = await import('./package/man-page.mjs');
  const help = execFileSync(process.execPath, ['dist/main.js', 'help', 'all'], { encoding: 'utf8' });
  /** @type {{version: string}} */
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  writeFileSync(MAN_PAGE, manPage(help, { version, date: dateOfSources() }));
}

/** The date of the last commit, or today's date outside a repository: 2026-01-31. */
function dateOfSources() {
  try {
    return execFileSync('git', ['log', '-1', '--format=%cs'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return new Date().toISOString().slice(0, 10);
  }
}

/** @param {{ force: boolean, types: boolean }} wanted */
async function build({ force, types }) {
  if (!existsSync('src')) return install(false); // An installed package comes with dist.
  const sources = fingerprint();
  const isBuilt = !force && upToDate(sources);
  const isDeclared = isBuilt && existsSync(DECLARATIONS) && existsSync(MAN_PAGE);
  if (isBuilt && (isDeclared || !types)) return install(false);
  await install(true);
  if (!isBuilt) await compile(sources);
  if (types) await declare();
}

const [verb, ...flags] = process.argv.slice(2);
if (verb === 'install') await install(true);
else if (verb === 'build')
  await build({ force: flags.includes('--force'), types: flags.includes('--types') });
else {
  say('usage: node scripts/ready.mjs install | build [--force] [--types]');
  process.exit(2);
}
