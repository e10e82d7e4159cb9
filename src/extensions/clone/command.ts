import { command, type Values } from '../../cli/command-line/commands/scan.js';
import {
  DEFAULT_RANGES,
  flag,
  OUTPUT_OPTIONS,
  option,
  type Ranges,
  TARGET_OPTIONS,
  targetOf,
  text,
  time,
  wholeNumber,
} from '../../cli/command-line/commands/values.js';
import { failure, type Result, success } from '../../common/result.js';
import { quote } from '../../common/schema/problem.js';
import type { CloneOrder } from './clone.js';

const MOST_RANGES = 64;

const OPTIONS = {
  ...TARGET_OPTIONS,
  units: rangesTo(255, 'unit identifiers such as 1-10,20 (default 1)'),
  ranges: rangesTo(0xffff, 'addresses of each table (default 0-9999,40000-40999)'),
  thorough: flag('read every address, even in tables that do not answer'),
  pause: time('the pause before each request (default 10ms)'),
  timeout: time('how long to wait for each reply (default 1s)'),
  watch: time('read again after this time; values that have risen become counters'),
  'probe-functions': rangesTo(127, 'additional function codes to send, without data'),
  map: text('FILE', 'take names and types from a file that import can read'),
  ...OUTPUT_OPTIONS,
};

/** Read real devices, and write a native file that answers as they do. */
export interface CloneCommand extends CloneOrder, Pick<Values<typeof OPTIONS>, 'map' | 'output' | 'force'> {}

export const CLONE = command({
  name: 'clone',
  words: '',
  summary: 'read a real device, and write a file that answers like it',
  details:
    'Reads from --serial PATH or --tcp HOST:PORT, and never writes to the device. Exit 1 if no device was found.',
  examples: ['clone --tcp 192.168.1.20:502 --units 1-5 -o meter.yaml'],
  options: OPTIONS,
  parse({ words: [word], values }): Result<CloneCommand> {
    if (word !== undefined) return failure(`clone takes options only, got ${quote(word)}`);
    const target = targetOf(values, 'clone');
    if (!target.ok) return target;
    const { units = [[1, 1]], 'probe-functions': functions = [] } = values;
    const usual = { ranges: DEFAULT_RANGES, watch: 0, pause: 10, timeout: 1000, thorough: false };
    return success({
      ...{ ...usual, ...values, target: target.value },
      ...{ units: numbersIn(units), functions: numbersIn(functions) },
    });
  },
});

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
