import type { Signal } from './signal.js';

/** Steps between checkpoints. With steps of 1 s, 8 bytes are kept for more than an hour. */
const STEPS_PER_CHECKPOINT = 4096;

/** A grid line, with the sum up to the line and the value of the signal at the line. */
interface Reached {
  readonly line: number;
  readonly sum: number;
  readonly value: number;
}

interface GridIntegral {
  /** The integral until a time, in value-seconds. */
  areaAt(time: number): number;
  /** The last grid line that was added up, and the integral until there. */
  reached(): { readonly time: number; readonly area: number };
}

/**
 * The integral of a signal from `start` on, in value-seconds, by the trapezoidal rule on a fixed grid with a line every
 * `every` ms. Within a step the signal is taken as a straight line, so the integral never jumps. The integral of a
 * signal that is never negative never falls.
 *
 * The sums at the last grid line and at every 4096th are kept. Sums are always added in the same order from there, so
 * earlier reads never change the result, not even its last bit. A read evaluates the signal once for each grid line
 * since the previous read.
 */
export function gridIntegral(signal: Signal, start: number, every: number): GridIntegral {
  const checkpoints = [0];
  const valueOfLine = (line: number) => signal.valueAt(start + line * every);
  let latest: Reached | undefined;

  /** The sum over the steps before `line`. Each step counts the mean of its two ends. */
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

  const areaAt = (time: number): number => {
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
  const reached = () => {
    const { line, sum } = latest ?? { line: 0, sum: 0 };
    return { time: start + line * every, area: (sum * every) / 1000 };
  };
  return { areaAt, reached };
}
