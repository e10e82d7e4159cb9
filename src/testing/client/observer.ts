import { spawn } from 'node:child_process';
import { failure, type Result, success } from '../../common/result.js';
import { valueAt } from '../../common/schema/parts.js';
import type { Device } from '../../device/device.js';
import { TABLE_NAMES, type TableName } from '../../device/tables.js';
import { valueAtAddress } from '../../simulator/commands/device-value.js';
import type { Simulator } from '../../simulator/simulator.js';
import { IN_SHELL, signalGroup } from '../scenario/dut.js';

/** The text that an observer showed, or why it showed nothing, as a sentence. */
type ObserverText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: string };

/** Shows the value that the client has read, because the line alone does not show how the client uses a reply. */
export interface Observer {
  /** Names the observer, as part of a sentence: `register meter.setpoint`. */
  readonly name: string;
  /** The device whose register shows the value; undefined if no register does. */
  readonly device?: string;
  /** The time between two readings, in ms. */
  readonly paceMs: number;
  /** Resolves with the value that the client read last. Never rejects, and takes at most two seconds. */
  read(): Promise<ObserverText>;
}

/** Longest wait for an observer, in ms. */
const READ_LIMIT_MS = 2_000;
/** Maximum length of a string that shows a value, in bytes. */
const LONGEST_ANSWER = 256 * 1024;

/** Trims an answer; an empty answer shows nothing. */
function shownText(text: string): ObserverText {
  const trimmed = text.trim();
  return trimmed === '' ? { ok: false, error: 'showed nothing' } : { ok: true, text: trimmed };
}

/** The time between two readings, in ms. Reading a register does not leave the process. */
const REGISTER_PACE_MS = 50;

/** Matches `meter.holding.100`, a value without a name. */
const LOCATION = /^(.+)\.(\w+)\.(\d{1,5})$/;

/**
 * Creates an observer for a register or coil that the client copies its readings to.
 * @param name `meter.setpoint`, or `meter.holding.100` for a value without a name
 * @returns the observer, or an error message about the name
 */
export function registerObserver(name: string, simulator: Simulator): Result<Observer> {
  const found = valueFor(name, simulator);
  if (!found.ok) return found;
  const { image, location, device } = found.value;
  return success({
    name: `register ${name}`,
    device,
    paceMs: REGISTER_PACE_MS,
    read: async () => {
      image.refresh(location.address, location.cells);
      return { ok: true, text: String(image.valueAt(location)) };
    },
  });
}

function valueFor(name: string, { devices, findValue }: Simulator) {
  const [, owner = '', named = '', place = ''] = LOCATION.exec(name) ?? [];
  const isPlace = devices.has(owner) && TABLE_NAMES.some((table) => table === named);
  const found = isPlace ? success({ device: owner, table: named, address: Number(place) }) : findValue(name);
  if (!found.ok) return found;
  const { device, table, address } = found.value;
  const value = valueAtAddress(devices.get(device) as Device, table as TableName, address);
  return value
    ? success({ ...value, device })
    : failure(`device ${device} has no entry at ${table} ${address}`);
}

const PAGE_PACE_MS = 200;

/** The steps into a JSON value: member names and array indexes. */
type JsonPath = readonly (string | number)[];

const STEP = /\.?([^.[\]]+)|\[(\d{1,9})\]/y;

/**
 * Parses a path such as `a.b[0]`.
 * @returns undefined if the text is not a path
 */
export function readJsonPath(text: string): JsonPath | undefined {
  const steps: (string | number)[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const [, name, index] = STEP.exec(text) ?? [];
    if (name !== undefined) steps.push(name);
    else if (index !== undefined) steps.push(Number(index));
    else return undefined;
  }
  return text.startsWith('.') ? undefined : steps;
}

/**
 * Creates an observer that reads a web page showing what the client has read.
 * @param path where the value is in the JSON; if undefined, the whole text is the value
 */
export function urlObserver(url: string, path: JsonPath | undefined): Observer {
  return {
    name: url,
    paceMs: PAGE_PACE_MS,
    read: async () => {
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(READ_LIMIT_MS) });
        const text = await textOf(response);
        if (!response.ok) return { ok: false, error: `answered ${response.status}` };
        if (text === undefined)
          return { ok: false, error: `answered with more than ${LONGEST_ANSWER} bytes` };
        return path === undefined ? shownText(text) : shownAt(text, path);
      } catch (error) {
        return { ok: false, error: `did not answer: ${reasonOf(error)}` };
      }
    },
  };
}

/**
 * Reads the text of a page.
 * @returns undefined if it is longer than `LONGEST_ANSWER`
 */
async function textOf({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop cancels the rest of the page.
    if (length > LONGEST_ANSWER) return undefined;
  }
  return Buffer.concat(chunks).toString();
}

function shownAt(text: string, path: JsonPath): ObserverText {
  let value: unknown;
  try {
    value = valueAt(JSON.parse(text), path);
  } catch {
    return { ok: false, error: 'did not answer with JSON' };
  }
  if (value === undefined || value === null) return { ok: false, error: 'has no value at the path' };
  if (typeof value === 'object') return { ok: false, error: 'has no single value at the path' };
  return shownText(String(value));
}

/** Finds the reason for a failure, which `fetch` hides in the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

/** The time between two readings, in ms. Starting a process takes time that the line also needs. */
const COMMAND_PACE_MS = 500;

/** Creates an observer that runs a command for each reading. The last line of its output is the value. */
export function commandObserver(command: string): Observer {
  return { name: `command ${command}`, paceMs: COMMAND_PACE_MS, read: () => outputOf(command) };
}

function outputOf(command: string): Promise<ObserverText> {
  return new Promise((resolve) => {
    const child = spawn(command, { ...IN_SHELL, stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    const end = (shown: ObserverText) => {
      clearTimeout(late);
      // This also ends the processes that the command started.
      signalGroup(child, 'SIGKILL');
      resolve(shown);
    };
    const late = setTimeout(
      () => end({ ok: false, error: `did not finish within ${READ_LIMIT_MS} ms` }),
      READ_LIMIT_MS,
    );
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text: string) => {
      output += text;
      if (output.length > LONGEST_ANSWER)
        end({ ok: false, error: `printed more than ${LONGEST_ANSWER} characters` });
    });
    child.once('error', ({ message }) => end({ ok: false, error: `could not be started: ${message}` }));
    child.once('close', (code) => {
      const last = output.trim().split('\n').at(-1) ?? '';
      end(code === 0 ? shownText(last) : { ok: false, error: `ended with exit code ${code}` });
    });
  });
}

/**
 * Creates the requested observer, or says what is wrong with the name of a register. The published options
 * and keys call it `observer`.
 */
export type MakeObserver = (bench: Simulator) => Result<Observer>;

/**
 * An observer as written by the user: a register such as `meter.setpoint` or `meter.holding.100`, a URL, or a
 * command.
 */
export interface WrittenObserver {
  readonly register?: string;
  readonly url?: string;
  readonly path?: string;
  readonly command?: string;
}

/**
 * Parses the observer settings; undefined if there are none. The path leads into the JSON at the URL:
 * `a.b[0]`.
 * @param nameOf how the user writes a part, for error messages: `--observer-register`
 */
export function readObserver(
  { register, url, path, command }: WrittenObserver,
  nameOf: (part: keyof WrittenObserver) => string,
): Result<MakeObserver | undefined> {
  const given = (['register', 'url', 'command'] as const).filter(
    (_, i) => [register, url, command][i] !== undefined,
  );
  if (given.length > 1) {
    return failure(`expected one observer, got ${given.map(nameOf).join(' and ')}`);
  }
  if (path !== undefined && url === undefined) return failure(`${nameOf('path')} needs ${nameOf('url')}`);
  if (register !== undefined) return success((bench) => registerObserver(register, bench));
  if (command !== undefined) {
    if (command.trim() === '') return failure(`${nameOf('command')}: expected a command`);
    return success(() => success(commandObserver(command)));
  }
  if (url === undefined) return success(undefined);
  if (!isHttp(url))
    return failure(`${nameOf('url')}: expected a URL with http or https, got ${JSON.stringify(url)}`);
  const steps = path === undefined ? undefined : readJsonPath(path);
  if (path !== undefined && (steps === undefined || steps.length === 0)) {
    return failure(
      `${nameOf('path')}: expected a path such as values[0].voltage, got ${JSON.stringify(path)}`,
    );
  }
  return success(() => success(urlObserver(url, steps)));
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
