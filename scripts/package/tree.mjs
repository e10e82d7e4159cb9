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
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { manPage } from './man-page.mjs';
import { makeProgram } from './program.mjs';

/** Which file is installed where. The sources are in `packaging/`, `systemd/` and `udev/`. */
const FILES = {
  'packaging/config.yaml': 'etc/modbus-sim/config.yaml',
  'systemd/modbus-sim.service': 'usr/lib/systemd/system/modbus-sim.service',
  'systemd/modbus-sim@.service': 'usr/lib/systemd/system/modbus-sim@.service',
  'systemd/modules-load.conf': 'usr/lib/modules-load.d/modbus-sim.conf',
  'systemd/sysusers.conf': 'usr/lib/sysusers.d/modbus-sim.conf',
  'packaging/lintian-overrides': 'usr/share/lintian/overrides/modbus-sim',
  'systemd/privileged-ports.conf': 'usr/share/doc/modbus-sim/examples/privileged-ports.conf',
  'udev/61-modbus-sim.rules': 'usr/lib/udev/rules.d/61-modbus-sim.rules',
};
/** Where each shell looks for completions. */
const COMPLETIONS = {
  bash: 'usr/share/bash-completion/completions/modbus-sim',
  zsh: 'usr/share/zsh/vendor-completions/_modbus-sim',
  fish: 'usr/share/fish/vendor_completions.d/modbus-sim.fish',
};
const SERVICE_CONF = ['modbus-sim.service.d', 'modbus-sim@.service.d'].map(
  (directory) => `usr/lib/systemd/system/${directory}/50-modbus-sim.conf`,
);

/**
 * A version of the package for one kind of machine.
 * @typedef {object} Target
 * @property {string} cpu Node's name for it: arm64, arm, x64.
 * @property {string} version In Debian's form.
 * @property {string} maintainer Name and address.
 * @property {number} time Of the last commit, in s; no file is newer.
 */

/**
 * Makes the tree of files that the package installs, below `root`, which is created from scratch.
 * @param {string} root
 * @param {Target} target
 * @param {(...args: string[]) => string} printed Returns the program's output for arguments, from which the
 * man page and completions are made.
 */
export function makeTree(root, { cpu, version, maintainer, time }, printed) {
  rmSync(root, { recursive: true, force: true });
  const at = (/** @type {string} */ path) => {
    const place = join(root, path);
    mkdirSync(dirname(place), { recursive: true });
    return place;
  };
  for (const [from, to] of Object.entries(FILES)) copyFileSync(from, at(to));
  for (const to of SERVICE_CONF) copyFileSync('systemd/service.conf', at(to));
  const date = new Date(time * 1000).toISOString().slice(0, 10);
  writeFileSync(
    at('usr/share/man/man1/modbus-sim.1.gz'),
    compressed(manPage(printed('help', 'all'), { version, date })),
  );
  for (const [shell, to] of Object.entries(COMPLETIONS)) writeFileSync(at(to), printed('completion', shell));
  const doc = 'usr/share/doc/modbus-sim';
  writeFileSync(at(`${doc}/CHANGELOG.md.gz`), compressed(readFileSync('CHANGELOG.md', 'utf8')));
  writeFileSync(at(`${doc}/changelog.gz`), compressed(debianChangelog({ version, maintainer, time })));
  // The service must not depend on the Node that a shell happens to find first.
  makeProgram(at('usr/lib/modbus-sim'), { cpu, node: '/usr/bin/node' });
  // They keep their places in the repository, so that links between them work.
  for (const path of ['README.md', 'CONTRIBUTING.md', 'docs', 'examples'])
    cpSync(path, at(`${doc}/${path}`), { recursive: true, filter: isOfRepository });
  writeFileSync(at(`${doc}/copyright`), copyright(join(root, 'usr/lib/modbus-sim')));
  symlinkSync('../lib/modbus-sim/dist/main.js', at('usr/bin/modbus-sim'));
  setModes(root);
}

/**
 * False for files that programs leave next to the examples when they run.
 * @param {string} path
 */
function isOfRepository(path) {
  return !/(^|\/)(node_modules|__pycache__|\.[^/]+)$/.test(path);
}

/**
 * What Debian requires about a version (deb-changelog(5)); the changes are in the other changelog.
 * @param {{version: string, maintainer: string, time: number}} target
 */
function debianChangelog({ version, maintainer, time }) {
  const date = new Date(time * 1000).toUTCString().replace('GMT', '+0000');
  return `modbus-sim (${version}) unstable; urgency=medium

  * What is new is in CHANGELOG.md.gz.

 -- ${maintainer}  ${date}
`;
}

/**
 * Zlib stores neither a time nor a name.
 * @param {string} text
 */
function compressed(text) {
  return gzipSync(text, { level: 9 });
}

/**
 * The licences of this program and of all packages in it.
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
    ['the program, bundled', readFileSync('dist/LICENSES.txt', 'utf8')],
    ['the console, bundled', readFileSync('dist/web/LICENSES.txt', 'utf8')],
    ['sunspec', `${readFileSync('sunspec/NOTICE', 'utf8')}\n${readFileSync('sunspec/LICENSE', 'utf8')}`],
  ];
  return [...own, ...texts]
    .map(([name, text]) => `==== ${name} ====\n\n${withoutApache(text ?? '')}\n`)
    .join('\n');
}

/**
 * Every Debian system has the text of this licence (Debian Policy 12.5).
 * @param {string} text
 */
function withoutApache(text) {
  return text.replace(
    /^ *Apache License\n *Version 2\.0[\s\S]*?END OF TERMS AND CONDITIONS\n/m,
    'Apache License, Version 2.0. Its text is in /usr/share/common-licenses/Apache-2.0.\n',
  );
}

/** @param {string} directory */
function setModes(directory) {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) setModes(path);
    else if (entry.isFile()) chmodSync(path, path.endsWith('/modbus-sim/dist/main.js') ? 0o755 : 0o644);
  }
}

/**
 * The installed size of a tree in KiB, as counted by dpkg: each file in whole KiB, and one for everything
 * else (deb-substvars(5), Installed-Size).
 * @param {string} root
 */
export function sizeOf(root) {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries.reduce((sum, entry) => {
    const bytes = entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 1024;
    return sum + Math.ceil(bytes / 1024);
  }, 0);
}
