import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Makes a directory with the built program and the packages that it needs, for a given kind of machine, which
 * then needs neither npm nor a compiler. It is used for the Debian packages, the container image and the ZIP
 * file for Windows.
 * @param {string} home The directory, which must not exist.
 * @param {{os?: string, cpu: string, node?: string}} target Node's names for the system and the machine
 * (arm64, arm, x64), and the interpreter that dist/main.js names, on systems that support this.
 */
export function makeProgram(home, { os = 'linux', cpu, node }) {
  mkdirSync(home, { recursive: true });
  const dist = join(home, 'dist');
  cpSync('dist', dist, { recursive: true, filter: (path) => !/\.(d\.ts|ready|1)$/.test(path) });
  for (const folder of ['catalogue', 'schema', 'sunspec'])
    cpSync(folder, join(home, folder), { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(file, join(home, file));
  const install = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const libc = os === 'linux' ? ['--libc=glibc'] : [];
  run('npm', [...install, `--os=${os}`, ...libc, `--cpu=${cpu}`], home);
  for (const leftOver of ['package-lock.json', 'node_modules/.bin']) {
    rmSync(join(home, leftOver), { recursive: true, force: true });
  }
  prune(join(home, 'node_modules'), `${os}-${cpu}`);
  if (node === undefined) return;
  const main = join(dist, 'main.js');
  writeFileSync(main, readFileSync(main, 'utf8').replace(/^#!.*/, `#!${node}`));
}

/** Files that Node loads, and the licences. */
const NEEDED = /\.([cm]?js|json|node)$|^(licen[cs]e|copying|notice)/i;

/** Files for developers of a package. */
const NOT_NEEDED =
  /^(\..*|test|tests|benchmark|benchmarks|docs|examples?|vendor|integration|scripts|eslint\.config\.js)$/;

/**
 * @param {string} directory
 * @param {string} machine in the form used by packages with binaries for several machines: linux-x64
 */
function prune(directory, machine) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    const isForeign =
      basename(directory) === 'prebuilds' ? entry.name !== machine : /^musl_|\.musl\.node$/.test(entry.name);
    if (isForeign || NOT_NEEDED.test(entry.name)) rmSync(path, { recursive: true });
    else if (entry.isDirectory()) prune(path, machine);
    // A command of the package, which no other file loads.
    else if (!NEEDED.test(entry.name) || readFileSync(path, 'latin1').startsWith('#!')) rmSync(path);
  }
  if (readdirSync(directory).length === 0) rmdirSync(directory);
}

/**
 * Runs a command to its end, with our output. Throws if it fails.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} [cwd]
 * @param {NodeJS.ProcessEnv} [env]
 */
export function run(command, args, cwd = '.', env = process.env) {
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed${error ? `: ${error.message}` : ''}`);
}
