import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The program as a user has it after unpacking a package: nothing of this repository is beside it. */
export interface Shipped {
  readonly name: string;
  /** The directory with `dist`, `catalogue` and the others. */
  readonly home: string;
  /** Whether its packages with machine code are for this machine: serial ports and the service manager need them. */
  readonly isForThisMachine: boolean;
}

/** The file that starts the program. */
export function mainOf({ home }: Shipped): string {
  return join(home, 'dist/main.js');
}

/** Runs a command without what vitest tells its own processes. Throws with what it printed. */
function quietly(command: string, args: readonly string[], cwd = '.'): string {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS)/.test(name)),
  );
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1e8 });
}

/** What `npm publish` would publish, and the names of its files. */
export function packed(directory: string): { readonly tarball: string; readonly files: readonly string[] } {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory];
  const [report]: { filename: string; files: { path: string }[] }[] = JSON.parse(quietly('npm', args));
  if (!report) throw new Error('npm has packed nothing');
  return { tarball: join(directory, report.filename), files: report.files.map(({ path }) => path) };
}

/** The tarball, installed into an empty project. npm refuses packages that want another Node than this one. */
export function installed(tarball: string, project: string): Shipped {
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true }));
  const without = ['--omit=dev', '--ignore-scripts', '--engine-strict', '--no-audit', '--no-fund'];
  quietly('npm', ['install', '--prefix', project, ...without, '--prefer-offline', tarball], project);
  return { name: 'the npm package', home: join(project, 'node_modules/modbus-sim'), isForThisMachine: true };
}

/** The Debian package for this machine, unpacked below a directory. */
export function debianTree(directory: string): Shipped {
  const architecture = quietly('dpkg', ['--print-architecture']).trim();
  quietly('dpkg-deb', ['-x', made(architecture, /\.deb$/), directory]);
  return { name: 'the Debian package', home: join(directory, 'usr/lib/modbus-sim'), isForThisMachine: true };
}

/** The ZIP file for Windows, unpacked into a directory. Its packages with machine code are for Windows. */
export function windowsZip(directory: string): Shipped {
  quietly('python3', ['-m', 'zipfile', '-e', made('windows', /\.zip$/), directory]);
  const [folder = ''] = readdirSync(directory);
  return { name: 'the ZIP file for Windows', home: join(directory, folder), isForThisMachine: false };
}

/** Makes a package, and finds its file among the lines that this prints. */
function made(what: string, name: RegExp): string {
  const printed = quietly(process.execPath, ['scripts/package.mjs', what]);
  const file = printed.split('\n').find((line) => name.test(line));
  if (file === undefined) throw new Error(`no ${name} in:\n${printed}`);
  return file;
}
