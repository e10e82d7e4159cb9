import type { z } from 'zod';
import { DURATION } from './milliseconds.js';
import { type JsonSchema, SchemaConverter } from './written-as.js';

const PREFIX = '#/definitions/';

/** The definition of what may stand in place of any number, flag or word. */
const ELSEWHERE = 'Parameter';

/**
 * Makes the schema of a kind of file for editors: JSON Schema, draft 07, with the examples and snippets that
 * completion offers.
 * @param title names the kind of file
 * @param form what is written in it
 * @param elsewhere a pattern of text that may stand in place of any number, flag or word
 */
export function editorSchema(title: string, form: z.ZodType, elsewhere?: string): JsonSchema {
  const converter = new SchemaConverter('draft-07', PREFIX);
  const schema = converter.convert(form, 'input');
  const { definitions } = converter;
  const whole = { $schema: 'http://json-schema.org/draft-07/schema#', title, ...schema, definitions };
  const finish = (part: JsonSchema) => finished(part, definitions, elsewhere !== undefined);
  const made = mapped(whole as JsonSchema, finish);
  if (elsewhere !== undefined)
    Object.assign(made.definitions as object, { [ELSEWHERE]: { type: 'string', pattern: elsewhere } });
  return made;
}

/** The first line of a file, which names its schema for editors. @param schema the address of the schema */
export function editorLine(schema: string): string {
  return `# yaml-language-server: $schema=${schema}\n`;
}

/** Applies `change` to a schema and all schemas in it, the inner ones first. */
function mapped(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const inner = (part: unknown): unknown =>
    Array.isArray(part)
      ? part.map((each) => mapped(each, change))
      : isSchema(part)
        ? mapped(part, change)
        : part;
  const all = (parts: unknown) =>
    Object.fromEntries(Object.entries(parts as object).map(([key, part]) => [key, inner(part)]));
  const entries = Object.entries(schema).map(([key, part]) => {
    if (key === 'properties' || key === 'definitions') return [key, all(part)];
    return [key, INNER.has(key) ? inner(part) : part];
  });
  return change(Object.fromEntries(entries));
}

const INNER = new Set(['items', 'additionalProperties', 'anyOf', 'allOf', 'oneOf']);

function isSchema(part: unknown): part is JsonSchema {
  return typeof part === 'object' && part !== null && !Array.isArray(part);
}

type Definitions = Readonly<Record<string, JsonSchema>>;

function finished(schema: JsonSchema, definitions: Definitions, hasElsewhere: boolean): JsonSchema {
  if (schema.pattern === DURATION.source) return { ...schema, examples: ['250ms', '20s', '5m', '1h'] };
  if (isOneOfKinds(schema)) return withSnippets(schema, definitions);
  const { propertyNames, additionalProperties, ...mapping } = schema;
  if (isSchema(propertyNames) && typeof propertyNames.pattern === 'string') {
    // To an editor, the key of {1: meter} is a number, which is no name of the type that propertyNames has.
    const patternProperties = { [propertyNames.pattern]: additionalProperties };
    return { ...mapping, patternProperties, additionalProperties: false } as JsonSchema;
  }
  const isScalar = schema.type !== 'object' && schema.type !== 'array' && schema.$ref === undefined;
  if (!hasElsewhere || !isScalar || schema.anyOf || schema.allOf || Object.keys(schema).length === 0)
    return schema;
  const { description, ...rest } = schema;
  return {
    ...(description && { description }),
    anyOf: [rest, { $ref: `${PREFIX}${ELSEWHERE}` }],
  } as JsonSchema;
}

/** True for a choice of mappings with one key each: `{sine: {…}}` or `{ramp: {…}}`. */
function isOneOfKinds({ anyOf = [] }: JsonSchema): boolean {
  return (
    anyOf.length > 2 &&
    anyOf.every(({ required = [], properties, description }) => {
      return description !== undefined && required.length === 1 && Object.keys(properties ?? {}).length === 1;
    })
  );
}

/** Moves the description of each kind to its key, where editors show it, and adds a snippet for each kind. */
function withSnippets(schema: JsonSchema, definitions: Definitions): JsonSchema {
  const kinds = (schema.anyOf ?? []).map(({ description = '', ...kind }) => {
    const [[name, parameters] = ['', {}]] = Object.entries(kind.properties ?? {});
    const stops = { next: 1 };
    const body = { [name]: bodyOf(parameters as JsonSchema, definitions, stops) };
    return {
      snippet: { label: name, description, body },
      kind: { ...kind, properties: { [name]: { description, ...(parameters as JsonSchema) } } },
    };
  });
  return {
    ...schema,
    anyOf: kinds.map(({ kind }) => kind),
    defaultSnippets: kinds.map(({ snippet }) => snippet),
  };
}

/** What a snippet inserts for a schema: what it needs, with a place to stop at for each value. */
function bodyOf(schema: JsonSchema, definitions: Definitions, stops: { next: number }): unknown {
  const { $ref, anyOf, type, properties = {}, required = [], items, examples } = schema;
  if ($ref !== undefined) return bodyOf(definitions[$ref.slice(PREFIX.length)] ?? {}, definitions, stops);
  if (schema.const !== undefined) return schema.const;
  const written = anyOf?.find((option) => option.examples) ?? anyOf?.[0];
  if (written) return bodyOf(written, definitions, stops);
  if (type === 'object')
    return Object.fromEntries(
      required.map((key) => [key, bodyOf(properties[key] as JsonSchema, definitions, stops)]),
    );
  if (type === 'array') return isSchema(items) ? [bodyOf(items as JsonSchema, definitions, stops)] : [];
  const example = schema.enum?.[0] ?? examples?.[0] ?? schema.default;
  return example === undefined ? `$${stops.next++}` : `\${${stops.next++}:${String(example)}}`;
}
