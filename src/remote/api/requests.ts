import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { DEEPEST } from '../../common/schema/parts.js';
import { type Path, pathText } from '../../common/schema/problem.js';
import { type Refusal, refusal, refusalOf } from '../../simulator/commands/refusal.js';

/** Maximum number of requests on one connection that may wait for earlier answers. */
const MOST_PIPELINED = 100;

/**
 * Makes a hook that starts each request of a connection only when the previous one has been answered, and
 * until then stops reading from the connection. So a client that sends many requests at once has only one
 * answer in memory.
 */
function oneAfterTheOther() {
  const unanswered = new WeakMap<Socket, number>();
  const newest = new WeakMap<Socket, ServerResponse>();
  return ({ socket }: IncomingMessage, response: ServerResponse, begin: () => void) => {
    const before = newest.get(socket);
    const count = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, count);
    newest.set(socket, response);
    response.once('close', () => {
      const left = (unanswered.get(socket) ?? 1) - 1;
      unanswered.set(socket, left);
      if (left === 1) socket.resume();
    });
    if (!before || before.closed) {
      begin();
      return;
    }
    socket.pause();
    if (count > MOST_PIPELINED) socket.destroy();
    before.once('close', begin);
  };
}

export type BodyText = { readonly ok: true; readonly text: string } | Refusal;

/** The value of a JSON text, or why it was rejected. */
export type ParsedJson = { readonly ok: true; readonly value: unknown } | Refusal;

const NOT_JSON = "Body is not valid JSON but content-type is set to 'application/json'";

const MAX_BYTES = 256 * 1024;

/**
 * Maximum number of names and values in a body, including nested ones. The largest rule and the longest list
 * of units have 2500. Copying more would delay the lines.
 */
export const MAX_PARTS = 4096;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Maximum number of names and values in a body of this route; `MAX_PARTS` when absent. */
    readonly maxParts?: number;
    /** Maximum number of bytes in a body of this route; `MAX_BYTES` when absent. */
    readonly maxBytes?: number;
  }
}

/** Reads a text body of at most `maxBytes`: see `readBytes`. */
export async function readText(
  payload: Readable,
  declaredBytes: number,
  maxBytes = MAX_BYTES,
): Promise<BodyText> {
  const read = await readBytes(payload, declaredBytes, maxBytes);
  return read.ok ? { ok: true, text: read.bytes.toString() } : read;
}

/**
 * Reads a body of at most `maxBytes`.
 * @param declaredBytes Content-Length of the request; 0 if it has none
 */
export function readBytes(
  payload: Readable,
  declaredBytes: number,
  maxBytes: number,
): Promise<{ readonly ok: true; readonly bytes: Buffer } | Refusal> {
  const tooLong = refusal('request.too_long', '', `body: expected at most ${maxBytes} bytes`);
  if (declaredBytes > maxBytes) return Promise.resolve(tooLong);
  const aborted = refusal('request.not_json', '', 'body: aborted');
  if (payload.destroyed) return Promise.resolve(aborted);
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
    payload.on('error', ({ message }) => resolve(refusal('request.not_json', '', `body: ${message}`)));
    payload.on('end', () => resolve({ ok: true, bytes: Buffer.concat(chunks) }));
    payload.on('close', () => resolve(aborted));
  });
}

/**
 * Parses the body of a request; an empty body is undefined. Rejects keys that would reach an object's
 * prototype when objects are merged. No request needs such keys.
 * @param maxParts maximum number of names and values
 */
export function parseJson(text: string, maxParts = MAX_PARTS): ParsedJson {
  if (text === '') return { ok: true, value: undefined };
  const { parts, depth } = measure(text);
  if (parts > maxParts)
    return refusal('request.too_long', '', `body: expected at most ${maxParts} names and values`);
  if (depth > DEEPEST)
    return refusal('request.too_long', '', `body: expected at most ${DEEPEST} levels of lists and mappings`);
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch {
    return refusal('request.not_json', '', NOT_JSON);
  }
  const forbidden = SUSPICIOUS.test(text) ? forbiddenKey(value) : undefined;
  return forbidden
    ? refusal('request.invalid', pathText(forbidden), 'not a key of any request')
    : { ok: true, value };
}

/** The codes of the characters that start or separate names and values outside strings. */
const codesOf = (characters: string) => new Set([...characters].map((each) => each.charCodeAt(0)));
const SEPARATORS = codesOf(',:[{');
const OPENING = codesOf('[{');
const CLOSING = codesOf(']}');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Estimates the size of a JSON text without parsing it: an upper bound of its names and values, including
 * nested ones, and the depth of nesting. A value nested thousands deep can't be sent to the side of the
 * lines, and no request needs one.
 */
export function measure(text: string): { readonly parts: number; readonly depth: number } {
  let parts = 1;
  let level = 0;
  let depth = 0;
  let isInText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) isInText = !isInText;
    else if (isInText) i += code === BACKSLASH ? 1 : 0;
    else {
      if (SEPARATORS.has(code)) parts++;
      if (OPENING.has(code)) depth = Math.max(depth, ++level);
      else if (CLOSING.has(code)) level--;
    }
  }
  return { parts, depth };
}

/** Text that may contain a forbidden key. An escape sequence may stand for a letter of the key. */
const SUSPICIOUS = /__proto__|constructor|\\u/;

function forbiddenKey(value: unknown): Path | undefined {
  const waiting: Visited[] = [{ value, key: '', parent: undefined }];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (typeof node.value !== 'object' || node.value === null) continue;
    for (const [key, content] of Object.entries(node.value)) {
      const inner = { value: content, key: Array.isArray(node.value) ? Number(key) : key, parent: node };
      if (key === '__proto__') return pathOf(inner);
      if (key === 'prototype' && node.key === 'constructor') return pathOf(inner);
      if (typeof content === 'object') waiting.push(inner);
    }
  }
  return undefined;
}

interface Visited {
  readonly value: unknown;
  readonly key: string | number;
  readonly parent: Visited | undefined;
}

/** Maximum number of keys shown of a path, counted from its end. A full path could be as long as the body. */
const LONGEST_PATH = 8;

function pathOf(visited: Visited): Path {
  const path: (string | number)[] = [];
  for (let at = visited; at.parent && path.length < LONGEST_PATH; at = at.parent) path.unshift(at.key);
  return path;
}

/** Thrown to reject a request before its route sees it. */
interface RefusedRequest extends Error {
  readonly refusal: Refusal;
}

/** Converts a refusal to an error, for Fastify. */
export function asError(refusal: Refusal): RefusedRequest {
  return Object.assign(new Error('refused'), { refusal, statusCode: 400 });
}

/** The refusal in an error of `asError`; undefined for any other error. */
export function refusalIn(error: Error): Refusal | undefined {
  return 'refusal' in error ? (error as RefusedRequest).refusal : undefined;
}

/**
 * The error for a value that does not match a schema: the path of each mistake and what was expected there.
 * Undefined if the value matches.
 */
function wrongBody(schema: z.ZodType, value: unknown): RefusedRequest | undefined {
  const findings = new Findings();
  new At(value, findings).check(schema);
  return findings.count > 0 ? asError(refusalOf(findings, 'request.invalid')) : undefined;
}

/** Compiles the checks of requests. They report mistakes like those in files. */
const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data: unknown) => {
    const findings = new Findings();
    const value = new At(data, findings).check(schema);
    return findings.count > 0 ? { error: asError(refusalOf(findings, 'request.invalid')) } : { value };
  };

/**
 * The error for a request without a required body. Fastify would pass null to the validator, which would look
 * like a body of `null`.
 */
function missingBody({ body, routeOptions }: FastifyRequest): RefusedRequest | undefined {
  const schema = routeOptions.schema?.body;
  return body === undefined && schema !== undefined ? wrongBody(schema as z.ZodType, body) : undefined;
}

/**
 * Makes an application handle the requests of each connection one at a time, and parse and check what is
 * sent. The schemas of the route check query and body, in the same way as files.
 * @param guard answers a request that is not admitted; returns undefined for any other
 */
export function takeRequests(
  app: FastifyInstance,
  guard: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  const inOrder = oneAfterTheOther();
  // The hooks use callbacks: promises would add a few µs to a short request.
  app.addHook('onRequest', (request, reply, done) => {
    inOrder(request.raw, reply.raw, () => {
      // The request may have waited for others. Errors are caught here, because nothing else would, and its
      // client may have disconnected.
      try {
        if (request.socket.destroyed) reply.hijack();
        else if (!guard(request, reply)) done();
      } catch (error) {
        done(error as Error);
      }
    });
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    async ({ headers, routeOptions }: FastifyRequest, payload: IncomingMessage) => {
      const { maxBytes, maxParts } = routeOptions.config;
      const body = await readText(payload, Number(headers['content-length'] ?? 0), maxBytes);
      const parsed = body.ok ? parseJson(body.text, maxParts) : body;
      if (parsed.ok) return parsed.value;
      throw asError(parsed);
    },
  );
  app.addContentTypeParser(
    'application/octet-stream',
    async ({ routeOptions }: FastifyRequest, payload: IncomingMessage) => {
      if (routeOptions.schema?.bytesBody) return payload;
      throw asError(refusal('request.media_type', '', 'content-type: expected application/json'));
    },
  );
  app.setValidatorCompiler(validatorCompiler);
  app.addHook('preValidation', (request, _, done) => done(missingBody(request)));
  app.addHook('preHandler', ({ body, routeOptions: { schema } }, _, done) => {
    done(schema?.checkedBody && wrongBody(schema.checkedBody, body));
  });
}
