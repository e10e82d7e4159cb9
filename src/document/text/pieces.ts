import { isMapping } from '../../common/schema/parts.js';

/** The approximate number of names, numbers and texts in one piece. */
const PIECE = 400;

/** A part of a value, as plain data: the value at `path`, or further items of a list there. */
export interface Piece {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/** Divides a value into pieces, each small enough to be passed to another thread in a fraction of a ms. */
export function* piecesOf(value: unknown, path: Piece['path'] = []): Generator<Piece> {
  if (typeof value !== 'object' || value === null || sizeOf(value, PIECE) < PIECE) {
    yield { path, value };
    return;
  }
  yield { path, value: Array.isArray(value) ? [] : {} };
  const isList = Array.isArray(value);
  for (const [key, part] of Object.entries(value))
    yield* piecesOf(part, [...path, isList ? Number(key) : key]);
}

/** Returns how many parts a value has. Counting stops at `most`. */
function sizeOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let size = 1;
  for (const part of Object.values(value)) {
    size += sizeOf(part, most - size);
    if (size >= most) break;
  }
  return size;
}

/** Reassembles pieces, in the order in which they were created. */
export class Assembly {
  readonly #whole: { value: unknown } = { value: undefined };

  get value(): unknown {
    return this.#whole.value;
  }

  add({ path, value }: Piece): void {
    const last = path.at(-1);
    // Without a prototype, names have no special meaning.
    const part = isMapping(value) ? Object.assign(Object.create(null), value) : value;
    let inner = this.#whole.value;
    for (const step of path.slice(0, -1)) inner = (inner as Record<string | number, unknown>)[step];
    if (last === undefined) this.#whole.value = part;
    else (inner as Record<string | number, unknown>)[last] = part;
  }
}
