import { STATUS_CODES } from 'node:http';
import type { z } from 'zod';
import { isMapping } from '../../../common/schema/parts.js';
import type { JsonSchema } from '../../../common/schema/written-as.js';
import type { DescribedContent } from '../../../simulator/commands/declared.js';
import { CODES, type Code, refusal } from '../../../simulator/commands/refusal.js';
import { errorSchema } from '../../../simulator/commands/schemas/problem.js';
import { isOpen } from '../access/access.js';
import { errorBody, failure, failureSchema, PROBLEM_TYPE, problemDetails } from '../error-answer.js';
import { type Components, idOfReference } from '../schema-json.js';
import type { Operation } from './operation.js';

/** An error from HTTP or from the access rules, which any route may return. */
interface CommonError {
  readonly code: Code;
  readonly description: string;
  /** The path in the example's body. */
  readonly path: string;
  readonly message: string;
  /** Headers of the answer, with descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Set if the error is sent before the path is known. It then has the body of /restapi everywhere. */
  readonly isBeforeRouting?: true;
}

const OF_EVERY_REQUEST: readonly CommonError[] = [
  {
    code: 'request.invalid',
    description: 'The request is invalid: no Host, an unexpected body, or an invalid parameter.',
    path: 'Host',
    message: 'missing, expected the name of this machine',
  },
  {
    code: 'access.read_only',
    description: 'A page from another site sent the request, or a read-only token tried to change something.',
    path: 'method',
    message: 'a read-only token allows only GET and HEAD',
  },
  {
    code: 'request.timeout',
    description: 'The request did not arrive completely within 10 s.',
    path: '',
    message: 'expected the whole request within 10 s',
    isBeforeRouting: true,
  },
  {
    code: 'request.host',
    description: 'The Host header does not name this machine.',
    path: 'Host',
    message: 'does not name this machine',
  },
  {
    code: 'request.header_too_long',
    description: 'The request header is too long.',
    path: '',
    message: 'the request header is too long',
    isBeforeRouting: true,
  },
  {
    code: 'request.failed',
    description: 'An internal error; the log of the simulator has the reason.',
    path: '',
    message: 'internal error, see the log',
  },
];

const WITHOUT_TOKEN: readonly CommonError[] = [
  {
    code: 'access.token',
    description: 'A token is configured, and the request has none or a wrong one.',
    path: 'Authorization',
    message: 'expected Bearer and a configured token',
    headers: { 'WWW-Authenticate': 'How to authenticate: `Bearer`.' },
  },
  {
    code: 'access.too_many_attempts',
    description: 'More than 10 wrong tokens came from this address within a minute.',
    path: 'Authorization',
    message: 'more than 10 wrong tokens within 60 s from this address',
    headers: { 'Retry-After': 'Seconds until a wrong token gets 401 again.' },
  },
];

const READING: readonly CommonError[] = [
  {
    code: 'readers.too_many',
    description: 'The maximum number of readers or of long lists is reached.',
    path: '',
    message: 'expected at most 128 long lists at a time; that many are already being read',
  },
];

const WITH_BODY: readonly CommonError[] = [
  {
    code: 'request.too_long',
    description: 'The body is larger than 256 KiB, or has more than 4,096 names and values.',
    path: '',
    message: 'body: expected at most 262144 bytes',
  },
  {
    code: 'request.media_type',
    description: 'The content type is not `application/json`.',
    path: '',
    message: 'content-type: expected application/json',
  },
];

/** The errors that an operation may return in addition to those of its route. */
function commonErrors({ method, path }: Operation): readonly CommonError[] {
  return [
    ...OF_EVERY_REQUEST,
    ...(isOpen(method.toUpperCase(), path) ? [] : WITHOUT_TOKEN),
    ...(method === 'get' ? READING : WITH_BODY),
  ];
}

/**
 * An example for a schema: its first one, or one built from the examples of its parts. Undefined if a
 * required part has none.
 */
function exampleOf(schema: JsonSchema, components: Components): unknown {
  const resolved = components.resolve(schema);
  const [given] = resolved.examples ?? [];
  if (given !== undefined) return given;
  if (resolved.const !== undefined) return resolved.const;
  if (resolved.default !== undefined) return resolved.default;
  if (resolved.enum?.[0] !== undefined) return resolved.enum[0];
  for (const option of resolved.anyOf ?? resolved.oneOf ?? []) {
    const example = exampleOf(option, components);
    if (example !== undefined) return example;
  }
  if (resolved.type === 'array') return listExample(resolved, components);
  return resolved.type === 'object' ? objectExample(resolved, components) : undefined;
}

function listExample({ items }: JsonSchema, components: Components): unknown {
  const example = isMapping(items) ? exampleOf(items, components) : undefined;
  return example === undefined ? undefined : [example];
}

function objectExample({ properties = {}, required = [] }: JsonSchema, components: Components): unknown {
  const example: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const part = isMapping(property) ? exampleOf(property, components) : undefined;
    if (part !== undefined) example[name] = part;
    else if (required.includes(name)) return undefined;
  }
  return example;
}

export interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

/** A reference to an answer that many operations share. */
export interface ResponseReference {
  readonly $ref: string;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** The meaning of an error status that a route does not describe. */
const OWN_ERRORS: Readonly<Record<string, string>> = {
  400: 'The request is invalid: the body lists each mistake and its place.',
  404: 'Nothing has this name.',
  409: 'The port, the system or the current state does not allow this; the body says why.',
};

/** Describes the answers of operations. Those that many operations share are in `common`, by name. */
export class Responses {
  readonly common: Record<string, Response> = {};
  readonly #components: Components;

  constructor(components: Components) {
    this.#components = components;
  }

  /** The answers of an operation by status: those of its route, of HTTP and of the access rules. */
  of(operation: Operation): Record<string, Response | ResponseReference> {
    const { path, schema } = operation;
    const common = commonErrors(operation).map((error) => [
      CODES[error.code].status,
      this.#reference(path, error),
    ]);
    const own = Object.entries(schema.response ?? {}).map(([status, answer]) => [
      status,
      'content' in answer
        ? streamed(status, answer, this.#components)
        : plain(path, Number(status), answer, this.#components),
    ]);
    return { ...Object.fromEntries(common), ...Object.fromEntries(own) };
  }

  #reference(path: string, error: CommonError): ResponseReference {
    const kind = errorKind(error.isBeforeRouting ? '/' : path);
    const name = `${kind.name}${CODES[error.code].status}`;
    this.common[name] ??= commonResponse(kind, error, this.#components);
    return { $ref: `#/components/responses/${name}` };
  }
}

interface ErrorKind {
  readonly name: string;
  readonly type: string;
  readonly schema: z.ZodType;
}

/** The form of errors below a path. */
function errorKind(path: string): ErrorKind {
  return path.startsWith('/api/v1')
    ? { name: 'Problem', type: PROBLEM_TYPE, schema: errorSchema }
    : { name: 'Failure', type: 'application/json', schema: failureSchema };
}

function commonResponse({ type, schema }: ErrorKind, error: CommonError, components: Components): Response {
  const { code, description, headers = {}, message } = error;
  const text = error.path === '' ? message : `${error.path}: ${message}`;
  const example =
    type === PROBLEM_TYPE
      ? problemDetails(CODES[code].status, errorBody(refusal(code, error.path, message)))
      : failure(text);
  const described = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  return {
    description,
    ...(described.length > 0 && { headers: Object.fromEntries(described) }),
    content: { [type]: { schema: components.convert(schema, 'output'), example } },
  };
}

function plain(path: string, status: number, schema: z.ZodType, components: Components): Response {
  const converted = components.convert(schema, 'output');
  const description =
    (idOfReference(converted) === 'Problem' ? OWN_ERRORS[status] : undefined) ??
    components.resolve(converted).description ??
    '';
  if (converted.type === 'null') return { description: description || (STATUS_CODES[status] ?? '') };
  const type = status < 400 ? 'application/json' : errorKind(path).type;
  return { description, content: { [type]: media(converted, components) } };
}

function streamed(status: string, answer: DescribedContent, components: Components): Response {
  const content = Object.entries(answer.content).map(([type, { schema }]) => [
    type,
    media(components.convert(schema, 'output'), components),
  ]);
  return {
    description: answer.description ?? STATUS_CODES[status] ?? '',
    content: Object.fromEntries(content),
  };
}

/** A schema with an example. */
export function media(schema: JsonSchema, components: Components): MediaType {
  const example = exampleOf(schema, components);
  return { schema, ...(example !== undefined && { example }) };
}
