/**
 * Makes the Debian packages and the ZIP file for Windows: npm run package [-- ARCHITECTURE... | windows], in
 * build/packages/. The same commit gives the same bytes.
 *
 * It uses only dpkg-deb: the output of debhelper depends on the Debian release that it runs on (Debian 12's
 * puts units into /lib, where Debian 13 forbids them), and here it would only have to write three short
 * scripts.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './package/program.mjs';
import { makeTree, sizeOf } from './package/tree.mjs';
import { makeZip } from './package/windows.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/**
 * Node's name for each Debian architecture.
 * @type {Readonly<Record<string, string>>}
 */
const CPUS = { arm64: 'arm64', armhf: 'arm', amd64: 'x64' };
const WINDOWS = 'windows';
const ALL = [...Object.keys(CPUS), WINDOWS];

const printed = (/** @type {string[]} */ ...args) =>
  execFileSync(process.execPath, ['dist/main.js', ...args], { encoding: 'utf8' });

/** @type {{version: string}} */
const { version: npmVersion } = JSON.parse(readFileSync('package.json', 'utf8'));
// For dpkg, 1.0.0~rc.1 comes before 1.0.0, and 1.0.0-rc.1 after it.
const version = npmVersion.replace('-', '~');
const {
  SOURCE_DATE_EPOCH,
  DEBFULLNAME = 'modbus-sim authors',
  DEBEMAIL = 'modbus-sim@localhost',
} = process.env;
const maintainer = `${DEBFULLNAME} <${DEBEMAIL}>`;
const time = Number(
  SOURCE_DATE_EPOCH ?? execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }),
);

/**
 * The part of the package that dpkg reads.
 * @param {string} root
 * @param {string} architecture
 */
function control(root, architecture) {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((file) => join(file.parentPath, file.name));
  const sums = paths.sort().map((path) => {
    const sum = createHash('md5').update(readFileSync(path)).digest('hex');
    return `${sum}  ${relative(root, path)}\n`;
  });
  const size = sizeOf(root);
  mkdirSync(join(root, 'DEBIAN'));
  for (const name of readdirSync('packaging/deb')) {
    const text = readFileSync(join('packaging/deb', name), 'utf8')
      .replace('@VERSION@', version)
      .replace('@MAINTAINER@', maintainer)
      .replace('@ARCHITECTURE@', architecture)
      .replace('@SIZE@', String(size));
    const path = join(root, 'DEBIAN', name);
    writeFileSync(path, text);
    chmodSync(path, text.startsWith('#!') ? 0o755 : 0o644);
  }
  const path = join(root, 'DEBIAN/md5sums');
  writeFileSync(path, sums.join(''));
  chmodSync(path, 0o644);
}

const architectures = process.argv.length > 2 ? process.argv.slice(2) : ALL;
for (const architecture of architectures) {
  if (architecture === WINDOWS) {
    const folder = `modbus-sim-${npmVersion}-windows-x64`;
    const zip = `build/packages/${folder}.zip`;
    makeZip('build/windows', { file: zip, folder, time });
    console.log(zip);
    continue;
  }
  const cpu = CPUS[architecture];
  if (cpu === undefined) {
    console.error(`no such architecture: ${architecture} (known: ${ALL.join(', ')})`);
    process.exit(2);
  }
  const root = `build/${architecture}`;
  const file = `build/packages/modbus-sim_${version}_${architecture}.deb`;
  makeTree(root, { cpu, version, maintainer, time }, printed);
  control(root, architecture);
  mkdirSync('build/packages', { recursive: true });
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(time) };
  run('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', root, file], '.', env);
  console.log(file);
}
