import { randomAt } from '../../common/random.js';
import type { Pace } from './signal.js';

/** A line of a grid over time, and the value of a signal at the line. */
interface Look {
  readonly line: number;
  readonly value: number;
}

/**
 * Returns the values at the lines after `from` until `to`, in the order of the lines. If there are more than
 * `most`, it returns at most `most` of them, the last line included; these lines are not the same distance
 * apart, so that no period of the signal hides between them. The last line is evaluated first: then a signal
 * that itself adds up others makes up its past once, and not for each line.
 */
export function* looksUntil(
  valueOfLine: (line: number) => number,
  from: number,
  to: number,
  most: number,
): Generator<Look> {
  const last = { line: to, value: valueOfLine(to) };
  const width = Math.max(1, (to - from) / most);
  for (let i = 1, before = from; i < Math.min(most, to - from); i++) {
    const shift = width === 1 ? 0 : randomAt(0, i) - 0.5;
    const line = Math.min(from + Math.round((i + shift) * width), to - 1);
    if (line <= before) continue;
    before = line;
    yield { line, value: valueOfLine(line) };
  }
  yield last;
}

/**
 * Returns how many looks at a value are allowed between two times of the device's clock, in ms; at least one.
 */
export function looksWithin({ steps, width }: Pace, from: number, to: number): number {
  return Math.max(1, Math.min(steps, Math.ceil((to - from) / width)));
}
