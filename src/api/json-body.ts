import type { Readable } from 'node:stream';
import { type Path, pathText } from '../schema/problem.js';
import { JsonParts } from './json-parts.js';

/** Why a body is refused. */
interface BodyRefusal {
  readonly ok: false;
  readonly status: 400 | 413;
  readonly error: string;
}

/** The text of a body, or why it is refused. */
export type BodyText = { readonly ok: true; readonly text: string } | BodyRefusal;

/** The value of a JSON text, or what is wrong with the text. */
export type ParsedJson = { readonly ok: true; readonly value: unknown } | BodyRefusal;

const NOT_JSON = "Body is not valid JSON but content-type is set to 'application/json'";

export const MAX_BYTES = 256 * 1024;

/**
 * The most names and values in a body, nested ones included. The largest rule and the longest list of units have 2500.
 * For 24,000 names in 256 KiB, JSON.parse alone takes longer than any line should wait.
 */
export const MAX_PARTS = 4096;

/**
 * Collects the body of a request. The names and values are counted as the bytes arrive, so that no turn of the event
 * loop looks at more than a piece of the body. A body with too many of them is read to its end but not kept.
 */
export function readBody(payload: Readable, declaredBytes: number): Promise<BodyText> {
  if (declaredBytes > MAX_BYTES) return Promise.resolve(TOO_LONG);
  return new Promise((resolve) => {
    const parts = new JsonParts();
    let chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_BYTES) {
        payload.off('data', take);
        resolve(TOO_LONG);
      }
      if (parts.count > MAX_PARTS) return;
      parts.take(chunk);
      if (parts.count > MAX_PARTS) chunks = [];
      else chunks.push(chunk);
    };
    payload.on('data', take);
    payload.on('error', ({ message }) => resolve({ ok: false, status: 400, error: `body: ${message}` }));
    payload.on('end', () =>
      resolve(
        parts.count > MAX_PARTS ? TOO_MANY : { ok: true, text: Buffer.concat(chunks, length).toString() },
      ),
    );
  });
}

/** Collects a body of text, which must be short. */
export function readText(payload: Readable, declaredBytes: number, maxBytes: number): Promise<BodyText> {
  const tooLong: BodyRefusal = { ok: false, status: 413, error: `body: expected at most ${maxBytes} bytes` };
  if (declaredBytes > maxBytes) return Promise.resolve(tooLong);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= maxBytes) return;
      payload.off('data', take);
      resolve(tooLong);
    };
    payload.on('data', take);
    payload.on('error', ({ message }) => resolve({ ok: false, status: 400, error: `body: ${message}` }));
    payload.on('end', () => resolve({ ok: true, text: Buffer.concat(chunks).toString() }));
  });
}

const TOO_LONG: BodyRefusal = { ok: false, status: 413, error: `body: expected at most ${MAX_BYTES} bytes` };
const TOO_MANY: BodyRefusal = {
  ok: false,
  status: 413,
  error: `body: expected at most ${MAX_PARTS} names and values`,
};

/**
 * Parses the body of a request; an empty body is undefined. Refuses keys that would reach an object's prototype when
 * objects are merged. No request needs such keys.
 */
export function parseJson(text: string): ParsedJson {
  if (text === '') return { ok: true, value: undefined };
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

/** An escape may stand for a letter of a key, so it is suspicious too. */
const SUSPICIOUS = /__proto__|constructor|\\u/;

/**
 * Finds a forbidden key. Uses a list of places still to be visited, not recursion: a body may be nested 100,000 deep.
 */
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

/** The most keys of a path that are shown, counted from its end. A full path could be as long as the body. */
const LONGEST_PATH = 8;

function pathOf(place: Place): Path {
  const path: (string | number)[] = [];
  for (let at = place; at.parent && path.length < LONGEST_PATH; at = at.parent) path.unshift(at.key);
  return path;
}
