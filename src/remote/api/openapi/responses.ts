import { STATUS_CODES } from 'node:http';
import type { z } from 'zod';
import type { JsonSchema } from '../../../common/schema/written-as.js';
import type { DescribedContent } from '../../../simulator/commands/declared.js';
import { CODES, refusal } from '../../../simulator/commands/refusal.js';
import { errorSchema } from '../../../simulator/commands/schemas/problem.js';
import { failure, failureSchema } from '../failure.js';
import { errorBody, PROBLEM_TYPE, problemDetails } from '../problem.js';
import { type Components, idOfReference } from '../schema-json.js';
import { type CommonError, commonErrors } from './common-errors.js';
import { exampleOf } from './example.js';
import type { Operation } from './operation.js';

/** A body by its media type. */
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

/** The meaning of an error status whose route does not describe it. */
const OWN_ERRORS: Readonly<Record<string, string>> = {
  400: 'The request has a mistake: the body names each one with its place.',
  404: 'There is nothing of this name.',
  409: 'The port, the system or the present state does not allow it: the body says why.',
};

/** Describes the answers of operations. Those that many operations share are in `common`, by name. */
export class Responses {
  readonly common: Record<string, Response> = {};
  readonly #components: Components;

  constructor(components: Components) {
    this.#components = components;
  }

  /** The answers of an operation by status: those of its route, and those of HTTP and the rules of access. */
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
