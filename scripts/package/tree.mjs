import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { manPage } from './man-page.mjs';

/** What installs where; `packaging/`, `systemd/` and `udev/` have them as they are. */
const FILES = {
  'packaging/config.yaml': 'etc/modbus-sim/config.yaml',
  'packaging/completion.bash': 'usr/share/bash-completion/completions/modbus-sim',
  'systemd/modbus-sim.service': 'usr/lib/systemd/system/modbus-sim.service',
  'systemd/modbus-sim@.service': 'usr/lib/systemd/system/modbus-sim@.service',
  'systemd/modules-load.conf': 'usr/lib/modules-load.d/modbus-sim.conf',
  'systemd/sysusers.conf': 'usr/lib/sysusers.d/modbus-sim.conf',
  'systemd/privileged-ports.conf': 'usr/share/doc/modbus-sim/examples/privileged-ports.conf',
  'udev/61-modbus-sim.rules': 'usr/lib/udev/rules.d/61-modbus-sim.rules',
};
const SERVICE_CONF = ['modbus-sim.service.d', 'modbus-sim@.service.d'].map(
  (directory) => `usr/lib/systemd/system/${directory}/50-modbus-sim.conf`,
);

/**
 * A version of the package for one kind of machine.
 * @typedef {object} Target
 * @property {string} cpu Node's name for it: arm64, arm, x64.
 * @property {string} version
 * @property {number} time Of the last commit, in s; every file is of this time at most.
 */

/**
 * Makes the tree of files that the package installs, below `root`, which is made anew.
 * @param {string} root
 * @param {Target} target
 * @param {string} help The help text of the program, for its man page.
 */
export function makeTree(root, { cpu, version, time }, help) {
  rmSync(root, { recursive: true, force: true });
  const at = (/** @type {string} */ path) => {
    const place = join(root, path);
    mkdirSync(dirname(place), { recursive: true });
    return place;
  };
  for (const [from, to] of Object.entries(FILES)) copyFileSync(from, at(to));
  for (const to of SERVICE_CONF) copyFileSync('systemd/service.conf', at(to));
  const date = new Date(time * 1000).toISOString().slice(0, 10);
  writeFileSync(at('usr/share/man/man1/modbus-sim.1.gz'), compressed(manPage(help, { version, date })));
  const doc = 'usr/share/doc/modbus-sim';
  writeFileSync(at(`${doc}/CHANGELOG.md.gz`), compressed(readFileSync('CHANGELOG.md', 'utf8')));
  program(at('usr/lib/modbus-sim/dist'), cpu);
  writeFileSync(at(`${doc}/copyright`), copyright(join(root, 'usr/lib/modbus-sim')));
  symlinkSync('../lib/modbus-sim/dist/main.js', at('usr/bin/modbus-sim'));
  setModes(root);
  chmodSync(join(root, 'usr/lib/modbus-sim/dist/main.js'), 0o755);
}

/**
 * Zlib writes no time and no name.
 * @param {string} text
 */
function compressed(text) {
  return gzipSync(text, { level: 9 });
}

/**
 * The program with the packages that it needs, for a machine of this kind: no npm and no compiler are needed there.
 * @param {string} dist
 * @param {string} cpu
 */
function program(dist, cpu) {
  const home = dirname(dist);
  cpSync('dist', dist, { recursive: true, filter: (path) => !/(\.map|\.d\.ts|\.ready)$/.test(path) });
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(file, join(home, file));
  const install = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', [...install, '--os=linux', '--libc=glibc', `--cpu=${cpu}`], home);
  for (const leftOver of ['package-lock.json', 'node_modules/.package-lock.json', 'node_modules/.bin']) {
    rmSync(join(home, leftOver), { recursive: true, force: true });
  }
  prune(join(home, 'node_modules'), cpu);
  // Whatever Node the shell of the moment finds first is not for the service.
  const main = join(dist, 'main.js');
  writeFileSync(main, readFileSync(main, 'utf8').replace(/^#!.*/, '#!/usr/bin/node'));
}

/** Sources of native modules, and what is for those who write programs with a package. */
const NOT_NEEDED = [
  /\/koffi\/(vendor|doc)$/,
  /\.(c|cc|cpp|h|hh|inc|S|asm|gyp)$/,
  /\.(map|c?m?ts|markdown)$/,
  /\/(test|tests|benchmark|benchmarks|docs|examples|\.github)$/,
];

/**
 * @param {string} directory
 * @param {string} cpu
 */
function prune(directory, cpu) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    const isForeign =
      basename(directory) === 'prebuilds'
        ? entry.name !== `linux-${cpu}`
        : /^musl_|\.musl\.node$/.test(entry.name);
    if (isForeign || NOT_NEEDED.some((pattern) => pattern.test(path))) rmSync(path, { recursive: true });
    else if (entry.isDirectory()) prune(path, cpu);
  }
}

/**
 * The licence of this program, and those of all packages that come with it.
 * @param {string} home
 */
function copyright(home) {
  const licences = readdirSync(join(home, 'node_modules'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|\/)(licen[cs]e|copying)[^/]*$/i.test(path))
    .sort();
  const texts = licences.map((path) => [
    `node_modules/${path}`,
    readFileSync(join(home, 'node_modules', path), 'utf8'),
  ]);
  const own = [
    ['modbus-sim', readFileSync('LICENSE', 'utf8')],
    ['the console, bundled', readFileSync('dist/web/LICENSES.txt', 'utf8')],
  ];
  return [...own, ...texts].map(([name, text]) => `==== ${name} ====\n\n${text}\n`).join('\n');
}

/** @param {string} directory */
function setModes(directory) {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) setModes(path);
    else if (entry.isFile()) chmodSync(path, 0o644);
  }
}

/**
 * What the files of a tree take up, in KiB.
 * @param {string} root
 */
export function sizeOf(root) {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  return Math.ceil(bytes / 1024);
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} [cwd]
 * @param {NodeJS.ProcessEnv} [env]
 */
export function run(command, args, cwd = '.', env = process.env) {
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed${error ? `: ${error.message}` : ''}`);
}
