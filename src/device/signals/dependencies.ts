import { atOnce, type Work } from '../../common/work.js';

/**
 * How many values a chain may have in which each depends on the next. Each value in the chain is a nested
 * call.
 */
const MAX_CHAIN = 100;

/**
 * The values in an order in which each comes after those that it needs; or the error, with the value that
 * causes it.
 */
export type Dependencies =
  | { readonly ok: true; readonly order: readonly string[] }
  | { readonly ok: false; readonly name: string; readonly message: string };

/**
 * Orders values by their dependencies. Refuses chains that are too long, and circles; the error names the
 * path. Names that are needed but not listed depend on nothing.
 * @param verb what a value does with the values that it needs, for messages
 */
export function orderOf(needs: ReadonlyMap<string, readonly string[]>, verb = 'depends on'): Dependencies {
  return atOnce(ordering(needs, verb));
}

/** Does as `orderOf`, in pieces. */
export function* ordering(
  needs: ReadonlyMap<string, readonly string[]>,
  verb = 'depends on',
): Work<Dependencies> {
  /** The length of the longest chain that begins with the value; 0 if the value needs no others. */
  const depths = new Map<string, number>();
  for (const start of needs.keys()) {
    yield;
    const path: { readonly name: string; next: number }[] = [];
    const enter = (name: string) => !depths.has(name) && path.push({ name, next: 0 });
    enter(start);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      if (path.length > MAX_CHAIN + 1) return tooLong(start, verb);
      const needed = needs.get(top.name) ?? [];
      const name = needed[top.next++];
      if (name === undefined) {
        const depth = 1 + Math.max(-1, ...needed.map((each) => depths.get(each) as number));
        if (depth > MAX_CHAIN) return tooLong(top.name, verb);
        depths.set(top.name, depth);
        path.pop();
        continue;
      }
      const first = path.findIndex((entry) => entry.name === name);
      if (first >= 0)
        return circle(
          path.slice(first).map((entry) => entry.name),
          verb,
        );
      enter(name);
    }
  }
  return { ok: true, order: [...depths.keys()].filter((name) => needs.has(name)) };
}

function circle(names: readonly string[], verb: string): Dependencies {
  const [first] = names as [string];
  return { ok: false, name: first, message: `${verb} itself: ${[...names, first].join(' -> ')}` };
}

function tooLong(name: string, verb: string): Dependencies {
  return { ok: false, name, message: `${verb} a chain of more than ${MAX_CHAIN} other values` };
}
