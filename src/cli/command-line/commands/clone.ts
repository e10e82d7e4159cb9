import { compact } from '../../../common/compact.js';
import { DURATION, milliseconds } from '../../../common/schema/milliseconds.js';
import { quote } from '../../../common/schema/problem.js';
import type { CloneOrder } from '../../../files/clone/clone.js';
import type { RealTarget } from '../../../files/config/configuration.js';
import { command, type Values } from './scan.js';
import { numberFrom, OUTPUT_OPTIONS, type Output, option, text, wholeNumber, wordOf } from './values.js';

/** Read real devices, and write a native file that answers as they do. */
export interface CloneCommand extends CloneOrder, Output {
  readonly kind: 'clone';
  /** Path of a file that `import` understands; it gives the registers names and types. */
  readonly map?: string;
}

const DEFAULT_RANGES: Ranges = [
  [0, 9999],
  [40000, 40999],
];
const MOST_RANGES = 64;
const SERIAL_ONLY = ['baud', 'parity', 'stop-bits'] as const;

function time(help: string) {
  return option('TIME', help, 'a time such as 60s or 20ms', (written) => {
    if (written === '0') return 0;
    return DURATION.test(written) ? milliseconds(written) : undefined;
  });
}

const OPTIONS = {
  serial: text('PATH', 'the serial port that the device is on'),
  tcp: option('HOST:PORT', 'or its address', 'HOST:PORT', hostPort),
  framing: wordOf('of the frames (default: socket on TCP, rtu on a serial port)', ['socket', 'rtu', 'ascii']),
  baud: numberFrom('N', 'of the port (default 19200)', 'a number', [50, 4_000_000]),
  parity: wordOf('of the port (default even)', ['none', 'even', 'odd']),
  'stop-bits': wordOf('of the port (default 1)', ['1', '2']),
  units: rangesTo(255, 'unit identifiers such as 1-10,20 (default 1)'),
  ranges: rangesTo(0xffff, 'addresses of each table (default 0-9999,40000-40999)'),
  pause: time('before each request (default 10ms)'),
  timeout: time('for each reply (default 1s)'),
  watch: time('read again after this time; values that rose become counters'),
  'probe-functions': rangesTo(127, 'function codes that are sent too, without data'),
  map: text('FILE', 'names and types from a file that import understands'),
  ...OUTPUT_OPTIONS,
};

export const CLONE = command({
  name: 'clone',
  words: '',
  summary: 'read a real device, and write a file that answers as it does',
  details:
    'Reads from --serial PATH or --tcp HOST:PORT, and never writes to the device. Exit 1 if no device was found.',
  options: OPTIONS,
  parse({ words: [word], values }): CloneCommand | string {
    if (word !== undefined) return `clone takes options only, got ${quote(word)}`;
    const target = targetOf(values);
    if (typeof target === 'string') return target;
    const { units = [[1, 1]], ranges = DEFAULT_RANGES, 'probe-functions': functions = [] } = values;
    const { watch = 0, pause = 10, timeout = 1000, map, output, force = false } = values;
    return {
      ...{ kind: 'clone' as const, target, units: numbersIn(units), ranges, functions: numbersIn(functions) },
      ...{ watch, pause, timeout, ...compact({ map, output }), force },
    };
  },
});

function targetOf(values: Values<typeof OPTIONS>): RealTarget | string {
  const { serial, tcp, framing, baud = 19200, parity = 'even', 'stop-bits': stopBits = '1' } = values;
  if (tcp !== undefined && serial === undefined) {
    const [only] = SERIAL_ONLY.filter((name) => values[name] !== undefined);
    return only ? `--${only} is for --serial` : { kind: 'tcp', ...tcp, framing: framing ?? 'socket' };
  }
  if (serial === undefined || tcp) return 'clone needs --serial PATH or --tcp HOST:PORT';
  if (framing === 'socket') return '--framing: expected rtu or ascii with --serial';
  return {
    kind: 'serial',
    path: serial,
    baudRate: baud,
    parity,
    stopBits: stopBits === '1' ? 1 : 2,
    dataBits: framing === 'ascii' ? 7 : 8,
    framing: framing ?? 'rtu',
  };
}

/** Splits an address such as `10.0.0.7:502`, `bench` or `[::1]:502`. */
function hostPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, bracketed, plain, digits = '502'] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const [host, port] = [bracketed ?? plain, wholeNumber(digits)];
  return host !== undefined && port > 0 && port <= 65535 ? { host, port } : undefined;
}

type Ranges = readonly (readonly [first: number, last: number])[];

/** An option whose value is a list of ranges, such as `1-10,20`. */
function rangesTo(max: number, help: string) {
  const expected = `numbers and ranges from 0 to ${max}, such as 1-10,20`;
  return option('LIST', help, expected, (written): Ranges | undefined => {
    const ranges = written.split(',', MOST_RANGES + 1).map((part) => {
      const [, first = '', last = first] = /^ *(\d+)(?:-(\d+))? *$/.exec(part) ?? [];
      return [wholeNumber(first), wholeNumber(last)] as const;
    });
    const areRight = ranges.every(([from, to]) => from <= to && to <= max);
    return areRight && ranges.length <= MOST_RANGES ? ranges : undefined;
  });
}

function numbersIn(ranges: Ranges): number[] {
  return ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
}
