/**
 * A list whose elements are JSON already. A piece is one element or several with commas between them. Rows that are
 * written a hundred thousand times a second are worth it.
 */
export class WrittenList {
  readonly pieces: Iterable<string>;

  constructor(pieces: Iterable<string>) {
    this.pieces = pieces;
  }
}

/** The JSON of an object in pieces: one for each element of its lists. */
export function* jsonPieces(answer: object): Generator<string, void> {
  let separator = '{';
  for (const [key, member] of Object.entries(answer)) {
    const value = typeof member === 'function' ? member() : member;
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    if (value instanceof WrittenList) yield* joined(value.pieces);
    else if (isList(value)) yield* joined(elementPieces(value));
    else if (hasGenerator(value)) yield* jsonPieces(value);
    else yield JSON.stringify(value);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

/** A list of pieces; an empty piece only says that time has passed. */
function* joined(pieces: Iterable<string>): Generator<string, void> {
  let separator = '[';
  for (const piece of pieces) {
    if (piece === '') {
      yield '';
      continue;
    }
    yield separator + piece;
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

function* elementPieces(list: Iterable<unknown>): Generator<string, void> {
  for (const element of list) yield element === undefined ? '' : JSON.stringify(element);
}

function isList(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

function hasGenerator(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((member) => isList(member) && !Array.isArray(member));
}
