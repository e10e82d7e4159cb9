import { type ChildProcess, spawn } from 'node:child_process';
import { HERE } from '../../common/platform.js';
import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import type { Simulator } from '../../simulator/simulator.js';
import { durationText } from '../report/words.js';

export interface DutDefinition {
  /** A shell command line; endpoints such as `{lines.bus.path}` are not yet filled in. */
  readonly command: string;
  /** Text that the program prints when it is ready; absent if it is ready at once. */
  readonly ready: string | undefined;
  /** How long the program may take to print `ready`, in ms. */
  readonly readyWithin: number;
}

/** A program that is ready at once. */
export function programOf(command: string): DutDefinition {
  return { command, ready: undefined, readyWithin: 0 };
}

/** Matches `{lines.bus.path}` in a command line. The name of a line may contain dots. */
const ENDPOINT = /\{lines\.([^{}]+)\.(\w+)\}/g;

const SERIAL = ['path'];
const SOCKET = ['host', 'port'];

/** Reports endpoints in a command line that the simulator does not have. */
export function reportUnknownEndpoints(command: string, simulator: Simulator, at: At): void {
  for (const [, name = '', key = ''] of command.matchAll(ENDPOINT)) {
    const line = simulator.lines.get(name);
    const known = line?.definition.kind === 'serial' ? SERIAL : SOCKET;
    if (!line) at.wrong(unknownName('line', name, [...simulator.lines.keys()]));
    else if (!known.includes(key)) at.wrong(unknownName(`part of {lines.${name}}`, key, known));
  }
}

/** The endpoints of lines by name: the path of a port, or host and port. */
export type LineEndpoints = ReadonlyMap<string, string>;

/** Fills in the endpoints of lines in a command line. For a line that is not open, the text is unchanged. */
export function withEndpoints(command: string, endpoints: LineEndpoints): string {
  return command.replace(ENDPOINT, (text, name: string, key: string) => {
    const endpoint = endpoints.get(name);
    if (endpoint === undefined) return text;
    if (key === 'path') return endpoint;
    const colon = endpoint.lastIndexOf(':');
    return key === 'port' ? endpoint.slice(colon + 1) : endpoint.slice(0, colon).replace(/^\[|\]$/g, '');
  });
}

export function openEndpoints(simulator: Simulator): LineEndpoints {
  return new Map(
    Array.from(simulator.lines.values()).flatMap(({ name, state }) =>
      state.kind === 'open' ? [[name, state.endpoint] as const] : [],
    ),
  );
}

/** Maximum number of output lines kept, and maximum length of each in characters: a program may print endlessly. */
const MOST_LINES = 12;
const LONGEST_LINE = 200;
/** Maximum number of characters kept of an incomplete line. */
const LONGEST_PART = 4096;
/** How long the program may take to exit after SIGTERM, in ms. */
const STOP_LIMIT_MS = 800;

type DutStart = { readonly ok: true; readonly dut: Dut } | { readonly ok: false; readonly error: string };

/** Stops and restarts the program under test, for the steps of a scenario. */
export interface DutControl {
  stop(): Promise<void>;
  /** @returns why it could not be started, as a sentence; undefined once it is ready */
  start(): Promise<string | undefined>;
}

/** The program under test, in its own process group. */
export class Dut {
  readonly #process: ChildProcess;
  readonly #output = new LastLines();
  readonly #gone: Promise<string>;
  #stopping = false;

  private constructor(process: ChildProcess, onText: (text: string) => void) {
    this.#process = process;
    for (const stream of [process.stdout, process.stderr]) {
      stream?.setEncoding('utf8');
      stream?.on('data', (text: string) => {
        this.#output.add(text);
        onText(text);
      });
    }
    this.#gone = new Promise((resolve) => {
      process.once('error', (error) => resolve(`could not be started: ${error.message}`));
      // `exit` rather than `close`: `close` waits for the end of the output, which a child process may hold
      // open.
      process.once('exit', (code, signal) =>
        setImmediate(() =>
          resolve(signal === null ? `ended with exit code ${code}` : `was killed by ${signal}`),
        ),
      );
    });
  }

  /**
   * Starts the program and waits until it is ready. If it does not become ready, it is stopped.
   * @param command the command line, with the endpoints of lines filled in
   * @param giveUp resolves when the program is no longer needed
   */
  static async start(
    { ready, readyWithin }: DutDefinition,
    { command, directory, giveUp }: { command: string; directory: string; giveUp: Promise<unknown> },
  ): Promise<DutStart> {
    const process = spawn(command, { ...IN_SHELL, cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
    let isReady = () => {};
    const said = new Promise<void>((resolve) => {
      isReady = resolve;
    });
    // The text of `ready` may arrive in pieces.
    let recent = '';
    const dut = new Dut(process, (text) => {
      recent += text;
      if (ready !== undefined && recent.includes(ready)) isReady();
      recent = ready === undefined ? '' : recent.slice(-ready.length);
    });
    if (ready === undefined) isReady();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(
        () => resolve(`did not print ${JSON.stringify(ready)} within ${durationText(readyWithin)}`),
        readyWithin,
      );
    });
    const error = await Promise.race([
      said,
      dut.#gone,
      late,
      giveUp.then(() => 'was not ready when the test was stopped'),
    ]);
    clearTimeout(timer);
    if (error === undefined) return { ok: true, dut };
    await dut.stop();
    return { ok: false, error: `the device under test ${error}${dut.lastWords}` };
  }

  /** Resolves with a sentence if the program exits without being stopped. Never resolves after `stop`. */
  async died(): Promise<string> {
    const how = await this.#gone;
    if (this.#stopping) return new Promise(() => {});
    return `the device under test ${how}${this.lastWords}`;
  }

  /** The newest output lines, as the end of a sentence; empty if there are none. */
  get lastWords(): string {
    const text = this.#output.text.trim();
    return text === '' ? '' : `; its last output:\n${text}`;
  }

  /** Ends the program and all processes that it started. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#signal('SIGTERM');
    const late = setTimeout(() => this.#signal('SIGKILL'), STOP_LIMIT_MS);
    await this.#gone;
    clearTimeout(late);
    // Children of the shell may outlive it.
    this.#signal('SIGKILL');
  }

  #signal(signal: NodeJS.Signals): void {
    signalGroup(this.#process, signal);
  }
}

/**
 * Options for starting a command line in the system's shell, /bin/sh or cmd.exe, in its own process group.
 * Windows has no such groups; there `detached` would open a window.
 */
export const IN_SHELL = { shell: true, detached: !HERE.isWindows, windowsHide: true } as const;

/**
 * Sends a signal to a program that was started with `IN_SHELL`, and to all processes that it started. Windows
 * has no signal that a program could handle, so there all of them are killed.
 */
export function signalGroup(
  { pid }: Pick<ChildProcess, 'pid'>,
  signal: NodeJS.Signals,
  platform = HERE,
): void {
  if (pid === undefined) return;
  if (platform.isWindows) {
    spawn('taskkill', ['/pid', `${pid}`, '/t', '/f'], { stdio: 'ignore' }).on('error', () => {});
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has no processes left, so there is nothing to signal.
  }
}

/** The newest lines of a text that may be endless. */
class LastLines {
  #lines: string[] = [];
  #part = '';

  add(text: string): void {
    const lines = `${this.#part}${text}`.split(/\r?\n/);
    this.#part = (lines.pop() ?? '').slice(-LONGEST_PART);
    this.#lines = [...this.#lines, ...lines.map((line) => line.slice(0, LONGEST_LINE))].slice(-MOST_LINES);
  }

  get text(): string {
    return [...this.#lines, this.#part].join('\n');
  }
}
