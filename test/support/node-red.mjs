import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/*
 * Node-RED with node-red-contrib-modbus, installed from npm into its own directory. Later versions of both
 * need a later Node.js, and those of node-red-contrib-modbus a package that npm does not have.
 */

const PACKAGES = ['node-red@4.1.15', 'node-red-contrib-modbus@5.23.3'];
const INSTALL_LIMIT_MS = 300_000;

/**
 * Installs both if they are missing: 140 MB, in about a minute.
 * @param {string} directory
 * @returns {string | undefined} why that was not possible, as part of a sentence
 */
export function installNodeRed(directory) {
  if (existsSync(join(directory, 'node_modules/node-red-contrib-modbus'))) return undefined;
  const args = ['install', '--prefix', directory, '--no-audit', '--no-fund', '--ignore-scripts', ...PACKAGES];
  const { status, stderr, error } = spawnSync('npm', args, { encoding: 'utf8', timeout: INSTALL_LIMIT_MS });
  if (status === 0) return undefined;
  const why = error?.message ?? stderr.match(/npm error (?:code|network|404)? ?.*/)?.[0] ?? stderr.trim();
  return `npm could not install ${PACKAGES.join(' and ')}: ${why}`;
}

/**
 * The installed programs and their versions.
 * @param {string} directory
 */
export function nodeRedVersion(directory) {
  const require = createRequire(join(directory, 'node_modules/'));
  const versionOf = (/** @type {string} */ name) => require(`${name}/package.json`).version;
  return `${versionOf('node-red-contrib-modbus')}, Node-RED ${versionOf('node-red')}`;
}
