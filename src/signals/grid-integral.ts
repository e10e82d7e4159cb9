import type { Signal } from './signal.js';

/** Steps from one checkpoint to the next: 8 bytes for more than an hour of steps of a second. */
const STEPS_PER_CHECKPOINT = 4096;

/** A line of the grid: the sum up to there, and the value of the signal there. */
interface Reached {
  readonly line: number;
  readonly sum: number;
  readonly value: number;
}

/**
 * The integral of a signal from `start` on, in value-seconds, by the trapezoidal rule on a fixed grid with a line every
 * `every` ms. Within a step the signal counts as the straight line between its ends, so the integral never jumps, and
 * of a signal that is never negative it never falls.
 *
 * The sum at the last grid line and at every 4096th is kept. Sums are always added up in the same order from there, so
 * the result is the same to the last bit whatever was asked before. A read costs as many values of the signal as there
 * are grid lines since the read before it.
 */
export function gridIntegral(signal: Signal, start: number, every: number): (time: number) => number {
  const checkpoints = [0];
  const valueOfLine = (line: number) => signal.valueAt(start + line * every);
  let latest: Reached | undefined;

  /** The sum of the values between the lines before `line`, each the mean of its ends. */
  const sumAt = (line: number): Reached => {
    let { line: at, sum, value } = latest && latest.line <= line ? latest : fromCheckpoint(line);
    while (at < line) {
      const next = valueOfLine(at + 1);
      sum += (value + next) / 2;
      value = next;
      at++;
      if (at % STEPS_PER_CHECKPOINT === 0) checkpoints[at / STEPS_PER_CHECKPOINT] = sum;
    }
    return { line: at, sum, value };
  };
  const fromCheckpoint = (line: number) => {
    const checkpoint = Math.min(Math.floor(line / STEPS_PER_CHECKPOINT), checkpoints.length - 1);
    const at = checkpoint * STEPS_PER_CHECKPOINT;
    return { line: at, sum: checkpoints[checkpoint] as number, value: valueOfLine(at) };
  };

  return (time) => {
    const steps = (time - start) / every;
    const line = Math.floor(steps);
    const reached = sumAt(line);
    if (!latest || reached.line > latest.line) latest = reached;
    const share = steps - line;
    if (share === 0) return (reached.sum * every) / 1000;
    const next = valueOfLine(line + 1);
    const partial = share * reached.value + (share ** 2 / 2) * (next - reached.value);
    return ((reached.sum + partial) * every) / 1000;
  };
}
