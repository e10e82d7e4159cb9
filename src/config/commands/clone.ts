import { DURATION, milliseconds } from '../../schema/milliseconds.js';
import { quote } from '../../schema/problem.js';
import type { RealTarget } from '../configuration.js';
import type { Given } from './scan.js';
import { wholeNumber } from './values.js';

/** Read real devices, and write a native file that answers as they do. Times are in ms. */
export interface CloneCommand {
  readonly kind: 'clone';
  readonly target: RealTarget;
  readonly units: readonly number[];
  readonly ranges: readonly (readonly [first: number, last: number])[];
  readonly watch: number;
  readonly functions: readonly number[];
  readonly pause: number;
  readonly timeout: number;
  /** A file that `import` understands, with names and types. */
  readonly map?: string;
  /** Where the file is written; standard output when absent. */
  readonly output?: string;
  readonly force: boolean;
}

export const CLONE_OPTIONS = {
  serial: { type: 'string' },
  tcp: { type: 'string' },
  framing: { type: 'string' },
  units: { type: 'string' },
  baud: { type: 'string' },
  parity: { type: 'string' },
  'stop-bits': { type: 'string' },
  ranges: { type: 'string' },
  watch: { type: 'string' },
  'probe-functions': { type: 'string' },
  pause: { type: 'string' },
  timeout: { type: 'string' },
  map: { type: 'string' },
  output: { type: 'string', short: 'o' },
  force: { type: 'boolean' },
} as const;

const DEFAULT_UNITS = '1';
const DEFAULT_RANGES = '0-9999,40000-40999';
const MOST_RANGES = 64;
const PARITIES = ['none', 'even', 'odd'] as const;
const FRAMINGS = ['socket', 'rtu', 'ascii'] as const;
const SERIAL_ONLY = ['baud', 'parity', 'stop-bits'] as const;

type Texts = Given<keyof typeof CLONE_OPTIONS>['values'];

/** @returns what is wrong, as a sentence */
export function parseClone({
  words: [word],
  values,
}: Given<keyof typeof CLONE_OPTIONS>): CloneCommand | string {
  if (word !== undefined) return `clone takes options only, got ${quote(word)}`;
  const target = targetOf(values);
  if (typeof target === 'string') return target;
  const units = rangesOf('units', values.units ?? DEFAULT_UNITS, 255);
  const ranges = rangesOf('ranges', values.ranges ?? DEFAULT_RANGES, 0xffff);
  const functions = rangesOf('probe-functions', values['probe-functions'] ?? '', 127);
  const watch = timeOf('watch', values.watch ?? '0');
  const pause = timeOf('pause', values.pause ?? '10ms');
  const timeout = timeOf('timeout', values.timeout ?? '1s');
  for (const read of [units, ranges, functions, watch, pause, timeout])
    if (typeof read === 'string') return read;
  const { map, output, force } = values;
  return {
    kind: 'clone',
    target,
    units: numbersIn(units as Ranges),
    ranges: ranges as Ranges,
    functions: numbersIn(functions as Ranges),
    watch: watch as number,
    pause: pause as number,
    timeout: timeout as number,
    ...(map !== undefined && { map }),
    ...(output !== undefined && { output }),
    force: force !== undefined,
  };
}

function targetOf(values: Texts): RealTarget | string {
  const { serial, tcp, framing, baud = '19200', parity = 'even', 'stop-bits': stopBits = '1' } = values;
  if ((serial === undefined) === (tcp === undefined)) return 'clone needs --serial PATH or --tcp HOST:PORT';
  if (framing !== undefined && !isOneOf(FRAMINGS, framing))
    return `--framing: expected socket, rtu or ascii, got ${quote(framing)}`;
  if (tcp !== undefined) {
    const [only] = SERIAL_ONLY.filter((name) => values[name] !== undefined);
    if (only) return `--${only} is for --serial`;
    const [, bracketed, plain, port = '502'] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(tcp) ?? [];
    const host = bracketed ?? plain;
    const number = wholeNumber(port, 65535);
    if (host === undefined || !(number > 0)) return `--tcp: expected HOST:PORT, got ${quote(tcp)}`;
    return { kind: 'tcp', host, port: number, framing: framing ?? 'socket' };
  }
  if (framing === 'socket') return '--framing: expected rtu or ascii with --serial';
  const baudRate = wholeNumber(baud, 4_000_000);
  if (!(baudRate >= 50)) return `--baud: expected a number from 50 to 4000000, got ${quote(baud)}`;
  if (!isOneOf(PARITIES, parity)) return `--parity: expected none, even or odd, got ${quote(parity)}`;
  if (stopBits !== '1' && stopBits !== '2') return `--stop-bits: expected 1 or 2, got ${quote(stopBits)}`;
  return {
    kind: 'serial',
    path: serial as string,
    baudRate,
    parity,
    stopBits: stopBits === '1' ? 1 : 2,
    dataBits: framing === 'ascii' ? 7 : 8,
    framing: framing ?? 'rtu',
  };
}

type Ranges = (readonly [first: number, last: number])[];

/** `1-10,20` as ranges. @returns what is wrong, as a sentence */
function rangesOf(option: string, text: string, max: number): Ranges | string {
  const wrong = `--${option}: expected numbers and ranges from 0 to ${max}, such as 1-10,20, got ${quote(text)}`;
  const parts = text === '' ? [] : text.split(',', MOST_RANGES + 1);
  if (parts.length > MOST_RANGES) return `--${option}: expected at most ${MOST_RANGES} ranges`;
  const ranges: Ranges = [];
  for (const part of parts) {
    const [, first = '', last = first] = /^ *(\d+)(?:-(\d+))? *$/.exec(part) ?? [];
    const [from, to] = [wholeNumber(first, max), wholeNumber(last, max)];
    if (!(from <= to)) return wrong;
    ranges.push([from, to]);
  }
  return ranges;
}

function numbersIn(ranges: Ranges): number[] {
  return ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
}

function timeOf(option: string, text: string): number | string {
  if (DURATION.test(text)) return milliseconds(text);
  return text === '0' ? 0 : `--${option}: expected a time such as 60s or 20ms, got ${quote(text)}`;
}

function isOneOf<Value extends string>(values: readonly Value[], text: string): text is Value {
  return (values as readonly string[]).includes(text);
}
