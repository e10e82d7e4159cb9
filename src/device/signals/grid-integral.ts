import { looksUntil, looksWithin } from './looks.js';
import type { Pace, Signal } from './signal.js';

/** A grid line, with the sum up to the line and the value of the signal at the line. */
interface Node {
  readonly line: number;
  readonly sum: number;
  readonly value: number;
  /**
   * True when nodes between the one before and this one were given up. Then only the mean of that part is
   * known.
   */
  readonly isThinned: boolean;
}

interface GridIntegral {
  /** Returns the integral until a time, in value-seconds. */
  areaAt(time: number): number;
  /** Returns the last grid line that was added up, and the integral until there. */
  reached(): { readonly time: number; readonly area: number };
}

/** How many nodes are kept in any case. */
const LEAST_KEPT = 8;

/**
 * Returns the integral of a signal from `start` on, in value-seconds, by the trapezoidal rule on a fixed grid
 * with a line every `every` ms. Within a step the signal is taken as a straight line, so the integral never
 * jumps. The integral of a signal that is never negative never falls.
 *
 * A read evaluates the signal at the lines since the previous read. If these are more than the pace allows,
 * it evaluates as many as are allowed, and takes the signal as straight lines between them. Evaluated lines
 * are kept as nodes, and are not evaluated again for an earlier time; when there are many nodes, every other
 * one of the older nodes is given up. As long as no read has more lines to evaluate than the pace allows, and
 * no time is asked for that is more than twice that many lines back, reads never change the result, not even
 * its last bit.
 */
export function gridIntegral(signal: Signal, start: number, every: number, pace: Pace): GridIntegral {
  const valueOfLine = (line: number) => signal.valueAt(start + line * every);
  let nodes: Node[] = [];
  /** The last line that is not after a time that was asked for. */
  let reached = 0;

  const extend = (to: number) => {
    let { line, sum, value } = nodes.at(-1) as Node;
    for (const next of looksUntil(valueOfLine, line, to, looksWithin(pace, line * every, to * every))) {
      sum += (next.line - line) * ((value + next.value) / 2);
      ({ line, value } = next);
      nodes.push({ line, sum, value, isThinned: false });
    }
    const kept = Math.max(pace.steps, LEAST_KEPT);
    if (nodes.length > 2 * kept) nodes = thinned(nodes, nodes.length - kept);
  };

  /** Returns the sum up to a line, or to a place between two lines, which must not be after the last node. */
  const sumAt = (place: number): number => {
    const i = nodeBefore(nodes, place);
    const { line, sum, value } = nodes[i] as Node;
    const next = nodes[i + 1];
    if (!next || place <= line) return sum;
    const width = next.line - line;
    const share = (place - line) / width;
    if (next.isThinned) return sum + share * (next.sum - sum);
    return sum + width * (share * value + (share ** 2 / 2) * (next.value - value));
  };

  const areaAt = (time: number): number => {
    const place = (time - start) / every;
    const line = Math.floor(place);
    const until = Math.ceil(place);
    if (nodes.length === 0) nodes.push({ line: 0, sum: 0, value: valueOfLine(0), isThinned: false });
    // The later line is evaluated first: then what the signal itself adds up is made up at once, and not line
    // by line.
    const { line: last } = nodes.at(-1) as Node;
    if (line > last) {
      if (until > line) valueOfLine(until);
      extend(line);
    }
    if (until > Math.max(last, line)) extend(until);
    reached = Math.max(reached, line);
    return (sumAt(place) * every) / 1000;
  };
  return {
    areaAt,
    reached: () => ({
      time: start + reached * every,
      area: nodes.length === 0 ? 0 : (sumAt(reached) * every) / 1000,
    }),
  };
}

/** Returns every other one of the first `count` nodes, and all later nodes. */
function thinned(nodes: readonly Node[], count: number): Node[] {
  return nodes.flatMap((node, i) => {
    if (i >= count) return i === count && count % 2 === 0 ? [{ ...node, isThinned: true }] : [node];
    if (i % 2 === 1) return [];
    return i === 0 ? [node] : [{ ...node, isThinned: true }];
  });
}

/** Returns the index of the last node that is not after a place; 0 if all are. */
function nodeBefore(nodes: readonly Node[], place: number): number {
  let low = 0;
  let high = nodes.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((nodes[middle] as Node).line <= place) low = middle;
    else high = middle;
  }
  return low;
}
