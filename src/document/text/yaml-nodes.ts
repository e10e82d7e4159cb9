import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml';
import { DEEPEST } from '../../common/schema/parts.js';
import {
  describeFound,
  type Issue,
  type Path,
  type Problem,
  pathText,
  quote,
} from '../../common/schema/problem.js';

/** Maximum nodes in a file, with its aliases followed. A device with every address listed has 262,144. */
const MOST_VALUES = 2_000_000;

/**
 * The strings of a file may have this many characters per allowed value: one long string with many aliases is
 * as large as many values.
 */
const CHARACTERS_OF_A_VALUE = 64;

/** Turns nodes into data. The number of values behind aliases is limited: a short file can expand to a huge one. */
export class NodeReader {
  readonly issues: Issue[] = [];
  /** In a file of another program: its tags, such as `!secret`. */
  readonly tags: Issue[] = [];
  /** In a file of another program: keys that are repeated, of which the last value counts. */
  readonly repeated: Issue[] = [];
  readonly targets = new Map<Alias, Node>();
  tooMuch: string | undefined;
  readonly #anchors = new Map<string, Node>();
  readonly #mostValues: number;
  readonly #isForeign: boolean;
  #values = 0;
  #characters = 0;

  /**
   * @param mostValues the maximum number of nodes, with aliases followed
   * @param isForeign whether the file belongs to another program: values with a tag become null
   */
  constructor(mostValues: number = MOST_VALUES, isForeign = false) {
    this.#mostValues = mostValues;
    this.#isForeign = isForeign;
  }

  read(node: Node | null, path: Path, depth: number): unknown {
    if (this.tooMuch) return undefined;
    if (depth > DEEPEST)
      this.tooMuch = `nested more than ${DEEPEST} levels deep, or an alias that contains itself`;
    if (++this.#values > this.#mostValues)
      this.tooMuch = `more than ${this.#mostValues} values with aliases expanded`;
    if (this.tooMuch || node === null) return null;
    if (isAlias(node)) return this.#follow(node, path, depth);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (this.#isForeign && node.tag?.startsWith('!')) {
      this.tags.push({ path, message: `the tag ${quote(node.tag)} is not supported` });
      return null;
    }
    if (isMap(node)) return this.#readMap(node, path, depth);
    if (isSeq(node))
      return node.items.map((item, i) => this.read(item as Node | null, [...path, i], depth + 1));
    if (!isScalar(node)) return null;
    if (typeof node.value === 'string') this.#count(node.value);
    return plainNumber(node.value);
  }

  #count({ length }: string): void {
    const most = this.#mostValues * CHARACTERS_OF_A_VALUE;
    this.#characters += length;
    if (this.#characters > most) this.tooMuch = `texts of more than ${most} characters with aliases expanded`;
  }

  #follow(alias: Alias, path: Path, depth: number): unknown {
    const target = this.targets.get(alias) ?? this.#anchors.get(alias.source);
    if (target) {
      this.targets.set(alias, target);
      return this.read(target, path, depth + 1);
    }
    this.issues.push({ path, message: `no anchor ${quote(alias.source)} before this alias` });
    return null;
  }

  #readMap(map: YAMLMap, path: Path, depth: number): unknown {
    const object: Record<string, unknown> = Object.create(null);
    const seen = new Set<string>();
    const merged: Readonly<Record<string, unknown>>[] = [];
    for (const pair of map.items) {
      const key = keyOf(pair);
      if (key === undefined) {
        const found = isMap(pair.key) ? {} : isSeq(pair.key) ? [0] : undefined;
        this.issues.push({ path, message: `expected a name as a key, got ${describeFound(found)}` });
        continue;
      }
      const at = [...path, key];
      if (isMerge(pair)) {
        this.#count(key);
        merged.push(...this.#readMerge(pair.value as Node | null, at, depth + 1));
        continue;
      }
      // PyYAML and others accept a repeated key.
      if (seen.has(key) && this.#isForeign)
        this.repeated.push({ path: at, message: 'this key appears twice; the last value is used' });
      else if (seen.has(key)) this.issues.push({ path: at, message: 'this key appears twice' });
      seen.add(key);
      this.#count(key);
      object[key] = this.read(pair.value as Node | null, at, depth + 1);
    }
    for (const each of merged) for (const key in each) if (!(key in object)) object[key] = each[key];
    return object;
  }

  /** Reads the contents of a merge key: a mapping, or a list of mappings, the first of which takes precedence. */
  #readMerge(node: Node | null, path: Path, depth: number): Readonly<Record<string, unknown>>[] {
    const value = this.read(node, path, depth);
    const all: readonly unknown[] = Array.isArray(value) ? value : [value];
    // A tag of another program is already listed, and is null.
    const maps = all.filter((each) => !(each === null && this.#isForeign));
    if (this.tooMuch || maps.every(isMapping)) return maps.filter(isMapping);
    this.issues.push({
      path,
      message: `expected a mapping or a list of mappings, got ${describeFound(value)}`,
    });
    return [];
  }
}

/** Returns a key as text, the same for `1` and `"1"`; undefined if it is a list or a mapping. */
function keyOf(pair: Pair): string | undefined {
  return isScalar(pair.key) ? String(pair.key.value) : undefined;
}

/**
 * Reports whether a key is a merge key (https://yaml.org/type/merge.html): `<<` without quotes, whose
 * mappings are added to the mapping around it.
 */
function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plainNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/**
 * Finds the positions of issues. A mapping is indexed once, on the first search, because each of its lines
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

  /** Returns the offset of the key or item of the last part of `path` that exists; undefined if no part exists. */
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

  /** Returns the node that marks the position of `part`, and the node in which to search for the next part. */
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

  #mappingsOf(node: Node | null): YAMLMap[] {
    const target = node && isAlias(node) ? (this.#targets.get(node) ?? null) : node;
    if (isSeq(target)) return target.items.flatMap((item) => this.#mappingsOf(item as Node | null));
    return isMap(target) ? [target] : [];
  }
}

/** Returns the line and column of an offset, both counted from 1. */
export function position(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}
