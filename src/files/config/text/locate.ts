import {
  type Alias,
  isAlias,
  isMap,
  isSeq,
  type LineCounter,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml';
import { type Issue, type Path, type Problem, pathText } from '../../../common/schema/problem.js';
import { isMerge, keyOf } from './yaml-nodes.js';

/**
 * Finds the positions of issues. A mapping is indexed once, at the first search, because each of its lines
 * may have a mistake.
 */
export class Locator {
  readonly #root: Node | null;
  readonly #targets: ReadonlyMap<Alias, Node>;
  readonly #lines: LineCounter;
  readonly #indices = new Map<YAMLMap, Map<string, Pair>>();

  constructor(root: Node | null, targets: ReadonlyMap<Alias, Node>, lines: LineCounter) {
    this.#root = root;
    this.#targets = targets;
    this.#lines = lines;
  }

  locate(issues: readonly Issue[]): Problem[] {
    return issues
      .map((issue) => ({ issue, offset: this.#offsetOf(issue.path) }))
      .sort((a, b) => (a.offset ?? -1) - (b.offset ?? -1))
      .map(({ issue: { path, message }, offset }) => ({
        path: pathText(path),
        message,
        ...(offset === undefined ? {} : position(this.#lines, offset)),
      }));
  }

  /** The offset of the key or item of the last part of `path` that exists; undefined when no part exists. */
  #offsetOf(path: Path): number | undefined {
    let offset: number | undefined;
    let node = this.#root;
    for (const part of path) {
      if (node && isAlias(node)) node = this.#targets.get(node) ?? null;
      const [at, next] = this.#step(node, part);
      if (!at) break;
      offset = at.range?.[0] ?? offset;
      node = next;
    }
    return offset;
  }

  /** The node that marks the position of `part`, and the node in which the next part is searched. */
  #step(node: Node | null, part: string | number): [at: Node | null, next: Node | null] {
    if (isMap(node)) {
      const pair = this.#indexOf(node).get(String(part));
      return pair ? [pair.key as Node, pair.value as Node | null] : [null, null];
    }
    const item = isSeq(node) && typeof part === 'number' ? ((node.items[part] ?? null) as Node | null) : null;
    return [item, item];
  }

  #indexOf(map: YAMLMap): Map<string, Pair> {
    const known = this.#indices.get(map);
    if (known) return known;
    const index = new Map<string, Pair>();
    this.#indices.set(map, index);
    // If a key occurs twice, the index keeps the last one, because a path to a duplicate key means that one.
    for (const pair of map.items) index.set(keyOf(pair) ?? '', pair);
    for (const pair of map.items.filter(isMerge))
      for (const merged of this.#mappingsOf(pair.value as Node | null))
        for (const [key, each] of this.#indexOf(merged)) if (!index.has(key)) index.set(key, each);
    return index;
  }

  /** The mappings that a merge key brings. */
  #mappingsOf(node: Node | null): YAMLMap[] {
    const target = node && isAlias(node) ? (this.#targets.get(node) ?? null) : node;
    if (isSeq(target)) return target.items.flatMap((item) => this.#mappingsOf(item as Node | null));
    return isMap(target) ? [target] : [];
  }
}

/** Line and column of an offset, both from 1. */
export function position(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}
