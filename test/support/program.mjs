import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Starts the built program like a user would: as a process, judged by its output. In JavaScript, because
 * scripts/soak.mjs and bench/ also use it, and Node 20 runs no TypeScript.
 */

/** The directory with the built program; MODBUS_SIM_DIST selects another build. */
export const dist = process.env.MODBUS_SIM_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));

if (!existsSync(join(dist, 'main.js')))
  throw new Error(`${dist} has no program: run \`npm run build\` first`);

/** Long enough for a busy machine, in ms. A program that is not ready by then is reported with its output. */
const START_LIMIT_MS = 60_000;
/** Also long enough for a busy machine, in ms: the program itself aborts late work after 1.5 s. */
const STOP_LIMIT_MS = 60_000;

/**
 * @typedef {object} ProgramOptions
 * @property {object} [config] A native configuration. REST gets any free port unless it says otherwise.
 * @property {readonly string[]} [args] More arguments.
 * @property {Readonly<Record<string, string>>} [env] More environment variables.
 * @property {string} [main] The file that starts the program, in a package; default: the one in `dist`.
 * @property {string} [node] A Node other than the one that runs the tests.
 * @property {number} [startLimit] How long it may take to be ready, in ms.
 */

/**
 * The built program, running and ready.
 * @typedef {object} RunningProgram
 * @property {number} pid
 * @property {string} directory Its temporary directory, with its configuration and the links of its virtual
 * lines; removed when it exits.
 * @property {{stdout: string, stderr: string}} output Its output so far, which is complete once it has
 * exited. Until then, standard error may lag behind standard output.
 * @property {Promise<number | null>} exited Its exit code; null after a signal.
 * @property {(line: string) => string} serialPath The port that a client of this serial line opens.
 * @property {(line: string) => number} tcpPort The port of this Modbus TCP line.
 * @property {() => string} restUrl The URL of REST, without a slash at the end.
 * @property {() => Promise<number | null>} stop Asks it to exit, kills it after a minute; returns the exit
 * code.
 */

/** Makes a new directory, which the caller must remove. */
export function makeTempDir() {
  return mkdtempSync(join(tmpdir(), 'modbus-sim-test-'));
}

/**
 * The running programs, with their directories.
 * @type {Map<import('node:child_process').ChildProcess, string>}
 */
const running = new Map();
let endsWithThisProcess = false;

/** A failed test leaves its programs behind, and vitest ends its processes with SIGTERM, which does not emit `exit`. */
function endWithThisProcess() {
  if (endsWithThisProcess) return;
  endsWithThisProcess = true;
  process.once('SIGTERM', () => process.exit(143));
  process.once('exit', () => {
    for (const [child, directory] of running) {
      child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    }
  });
}

/**
 * Starts the built program and waits until it is ready; rejects with its output if it does not get that far.
 * @param {ProgramOptions} [options]
 * @returns {Promise<RunningProgram>}
 */
export async function startProgram({
  config,
  args = [],
  env = {},
  main = join(dist, 'main.js'),
  node = process.execPath,
  startLimit = START_LIMIT_MS,
} = {}) {
  const directory = makeTempDir();
  const file = join(directory, 'config.json');
  if (config) writeFileSync(file, JSON.stringify({ api: { port: 0 }, ...config }));
  const child = spawn(node, [main, ...(config ? ['--config', file] : []), ...args], {
    // The stable names of virtual lines are links in the temporary directory, so each program gets its own.
    env: { ...process.env, TMPDIR: directory, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text;
  });
  const kill = () => child.kill('SIGKILL');
  endWithThisProcess();
  running.set(child, directory);
  /** @type {Promise<number | null>} */
  const exited = new Promise((resolve) => {
    child.once('close', (code) => {
      running.delete(child);
      rmSync(directory, { recursive: true, force: true });
      resolve(code);
    });
  });
  await untilReady(child, output, startLimit);

  /** @param {RegExp} pattern */
  const printed = (pattern) => {
    const found = output.stdout.match(pattern)?.[1];
    if (found === undefined) throw new Error(`nothing like ${pattern} in:\n${output.stdout}`);
    return found;
  };
  return {
    pid: /** @type {number} */ (child.pid),
    directory,
    output,
    exited,
    serialPath: (line) => printed(new RegExp(`^line ${line}: RTU on (\\S+)`, 'm')),
    tcpPort: (line) => Number(printed(new RegExp(`^line ${line}: Modbus TCP on \\S+:(\\d+)`, 'm'))),
    restUrl: () => printed(/^REST on (\S+)/m),
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(kill, STOP_LIMIT_MS);
      const code = await exited;
      clearTimeout(timer);
      return code;
    },
  };
}

/**
 * @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, import('node:stream').Readable>} child
 * @param {{stdout: string, stderr: string}} output
 * @param {number} limit
 * @returns {Promise<void>}
 */
function untilReady(child, output, limit) {
  return new Promise((resolve, reject) => {
    /** @param {string} why */
    const fail = (why) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`the program ${why}\n${output.stdout}${output.stderr}`));
    };
    const timer = setTimeout(() => fail(`was not ready after ${limit} ms`), limit);
    child.once('error', (error) => fail(`did not start: ${error.message}`));
    child.once('close', (code) => fail(`ended with ${code} before it was ready`));
    child.stdout.on('data', () => {
      if (!/^ready$/m.test(output.stdout)) return;
      clearTimeout(timer);
      resolve();
    });
  });
}
