import { type Path, pathText } from '../schema/problem.js';

/** The value of a JSON text, or what is wrong with the text. */
export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly status: 400 | 413; readonly error: string };

const NOT_JSON = "Body is not valid JSON but content-type is set to 'application/json'";

/**
 * Names and values that a body may have, nested ones included. The largest rule and the longest list of units come to
 * 2500, and 24,000 names in 256 KiB take JSON.parse alone longer than any line should wait.
 */
const MAX_PARTS = 4096;

/**
 * Parses the body of a request; an empty one is undefined. Keys that would reach the prototype of an object wherever
 * objects are merged are refused by their names: no request has a use for them.
 */
export function parseJson(text: string): ParsedJson {
  if (text === '') return { ok: true, value: undefined };
  if (partsOf(text) > MAX_PARTS) {
    return { ok: false, status: 413, error: `body: expected at most ${MAX_PARTS} names and values` };
  }
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch {
    return { ok: false, status: 400, error: NOT_JSON };
  }
  const forbidden = SUSPICIOUS.test(text) ? forbiddenKey(value) : undefined;
  return forbidden
    ? { ok: false, status: 400, error: `${pathText(forbidden)}: not a key of any request` }
    : { ok: true, value };
}

/** How many names and values a JSON text has at most: what separates or begins them, outside of strings, is counted. */
function partsOf(text: string): number {
  let parts = 1;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') inString = !inString;
    else if (inString && character === '\\') i++;
    else if (
      !inString &&
      (character === ',' || character === ':' || character === '[' || character === '{')
    ) {
      parts++;
    }
  }
  return parts;
}

/** A letter of a key may be written as an escape. */
const SUSPICIOUS = /__proto__|constructor|\\u/;

/** Where a forbidden key stands. A list of what is still to be looked at: a body may be nested 100,000 deep. */
function forbiddenKey(value: unknown): Path | undefined {
  const waiting: Place[] = [{ value, key: '', parent: undefined }];
  for (let place = waiting.pop(); place; place = waiting.pop()) {
    if (typeof place.value !== 'object' || place.value === null) continue;
    for (const [key, content] of Object.entries(place.value)) {
      const inner = { value: content, key: Array.isArray(place.value) ? Number(key) : key, parent: place };
      if (key === '__proto__') return pathOf(inner);
      if (key === 'prototype' && place.key === 'constructor') return pathOf(inner);
      if (typeof content === 'object') waiting.push(inner);
    }
  }
  return undefined;
}

interface Place {
  readonly value: unknown;
  readonly key: string | number;
  readonly parent: Place | undefined;
}

/** The last keys that lead to a place; more would make a message of the whole body. */
const LONGEST_PATH = 8;

function pathOf(place: Place): Path {
  const path: (string | number)[] = [];
  for (let at = place; at.parent && path.length < LONGEST_PATH; at = at.parent) path.unshift(at.key);
  return path;
}
