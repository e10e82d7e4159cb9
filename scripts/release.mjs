/**
 * Makes a complete release in build/release/: node scripts/release.mjs [--draft] [--base IMAGE]
 *
 * - the npm package, the Debian packages for arm64, armhf and amd64, the ZIP file for Windows
 * - the container image for this machine's architecture, if podman is installed; --base names a base image
 *   other than the
 *   one in the Containerfile
 * - the Python package, if python3 has build and hatchling
 * - the list of components (CycloneDX), the changes in this version, and checksums of all files
 *
 * It refuses a working tree that does not have the tag `v` plus the version; --draft skips this check.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { run } from './package/program.mjs';
import { changesOf, shipped } from './package/release-notes.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { values } = parseArgs({ options: { draft: { type: 'boolean' }, base: { type: 'string' } } });

/**
 * @param {string} reason
 * @returns {never}
 */
function refuse(reason) {
  console.error(`no release: ${reason}`);
  process.exit(1);
}

/**
 * The output of a command.
 * @param {string} command
 * @param {readonly string[]} args
 */
function output(command, args) {
  return execFileSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}

/** @type {{version: string}} */
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const changes = changesOf(version, readFileSync('CHANGELOG.md', 'utf8'));
if (changes === undefined) refuse(`CHANGELOG.md has no section "## ${version}"`);
if (!values.draft) {
  if (output('git', ['status', '--porcelain']) !== '') refuse('there are uncommitted changes');
  const tags = output('git', ['tag', '--points-at', 'HEAD']).split('\n');
  if (!tags.includes(`v${version}`)) refuse(`this commit has no tag v${version}`);
}

const directory = 'build/release';
rmSync(directory, { recursive: true, force: true });
rmSync('build/packages', { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
const at = (/** @type {string} */ name) => join(directory, name);

run(process.execPath, ['scripts/ready.mjs', 'build', '--force', '--types']);
run('npm', ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', directory]);
run(process.execPath, ['scripts/package.mjs']);
for (const name of readdirSync('build/packages')) copyFileSync(join('build/packages', name), at(name));

if (spawnSync('python3', ['-c', 'import build, hatchling']).status !== 0) {
  console.error('no Python package: python3 has no module build or hatchling');
} else {
  run('python3', [
    '-m',
    'build',
    '--wheel',
    '--no-isolation',
    '--skip-dependency-check',
    '--outdir',
    directory,
    'python',
  ]);
}

const time = new Date(Number(output('git', ['log', '-1', '--format=%ct'])) * 1000);
const everything = output('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only']);
const bundled = ['dist', 'dist/web']
  .map((folder) => readFileSync(`${folder}/LICENSES.txt`, 'utf8'))
  .join('\n');
writeFileSync(
  at(`modbus-sim-${version}.cdx.json`),
  `${JSON.stringify(shipped(JSON.parse(everything), bundled, time), null, 2)}\n`,
);
writeFileSync(at(`CHANGES-${version}.md`), changes);

const image = `modbus-sim:${version}`;
if (spawnSync('podman', ['--version']).status !== 0) {
  console.error('no image: podman is not installed');
} else {
  const base = values.base === undefined ? [] : ['--build-arg', `NODE=${values.base}`];
  // PODMAN_BUILD has build options that this machine needs, such as --network=host.
  const more = (process.env.PODMAN_BUILD ?? '').split(' ').filter((word) => word !== '');
  run('podman', ['build', '--format', 'docker', ...base, ...more, '-t', image, '.']);
  const architecture = output('podman', ['image', 'inspect', '--format', '{{.Architecture}}', image]).trim();
  run('podman', ['save', '--quiet', '-o', at(`modbus-sim-${version}-${architecture}.image.tar`), image]);
  run('gzip', ['-n', at(`modbus-sim-${version}-${architecture}.image.tar`)]);
}

const files = readdirSync(directory).sort();
const sums = files.map((name) => {
  const sum = createHash('sha256')
    .update(readFileSync(at(name)))
    .digest('hex');
  return `${sum}  ${name}\n`;
});
writeFileSync(at('SHA256SUMS'), sums.join(''));
for (const name of [...files, 'SHA256SUMS']) console.log(at(name));
