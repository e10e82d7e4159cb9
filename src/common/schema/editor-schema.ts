import type { z } from 'zod';
import { DURATION } from './milliseconds.js';
import { type JsonSchema, SchemaConverter } from './written-as.js';

const PREFIX = '#/definitions/';

/** The definition of what may replace any number, flag or word. */
const ELSEWHERE = 'Parameter';

/**
 * Creates the schema of a kind of file for editors: JSON Schema, draft 07, without keywords of a particular
 * editor. Alternatives have titles, because editors show them in hovers and offer them in completion.
 * @param name the name of the kind of file
 * @param form the contents of the file
 * @param elsewhere a pattern of text that may replace any number, flag or word
 */
export function editorSchema(name: string, form: z.ZodType, elsewhere?: string): JsonSchema {
  const converter = new SchemaConverter('draft-07', PREFIX);
  const schema = converter.convert(form, 'input');
  const { definitions } = converter;
  const { required, ...whole } = schema;
  const made = mapped(
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: `urn:modbus-sim:${name}`,
      ...whole,
      // An editor would offer a whole file as a separate entry next to the keys of the file.
      ...(required && { allOf: [{ required }] }),
      definitions,
    } as JsonSchema,
    (part) => finished(part, elsewhere !== undefined),
  );
  if (elsewhere !== undefined)
    Object.assign(made.definitions as object, { [ELSEWHERE]: { type: 'string', pattern: elsewhere } });
  return made;
}

/** Returns the first line of a file, which names its schema for editors. @param schema the address of the schema */
export function editorLine(schema: string): string {
  return `# yaml-language-server: $schema=${schema}\n`;
}

/** Applies `change` to a schema and all schemas in it, innermost first. */
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

function finished(part: JsonSchema, hasElsewhere: boolean): JsonSchema {
  if (part.pattern === DURATION.source) return { ...part, examples: ['250ms', '20s', '5m', '1h'] };
  const schema = withTitles(plain(part));
  const { propertyNames, additionalProperties, ...mapping } = schema;
  if (isSchema(propertyNames) && typeof propertyNames.pattern === 'string') {
    // To an editor, the key of {1: meter} is a number, which does not match the type of propertyNames.
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

/**
 * Returns a schema that strict validators accept: one type each, only formats that they know, and no required
 * key that is not defined.
 */
function plain({ format: _, ...schema }: JsonSchema): JsonSchema {
  const { type, description, required, properties, ...rest } = schema;
  if (required && !properties)
    return { ...schema, properties: Object.fromEntries(required.map((key) => [key, true])) } as JsonSchema;
  if (!Array.isArray(type)) return schema;
  return {
    ...(description && { description }),
    anyOf: (type as string[]).map((each) => ({ type: each, ...(rest as object) })),
  } as JsonSchema;
}

/** Gives the parts of a mapping, or the definitions, titles from their keys. */
function withTitles(schema: JsonSchema): JsonSchema {
  const named = (parts: object | undefined) =>
    parts &&
    Object.fromEntries(
      Object.entries(parts).map(([key, part]) => [key, isSchema(part) ? titled(part, key) : part]),
    );
  const { properties, definitions } = schema as JsonSchema & { readonly definitions?: object };
  return {
    ...schema,
    ...(properties && { properties: named(properties) }),
    ...(definitions && { definitions: named(definitions) }),
  } as JsonSchema;
}

/** Gives titles to mappings with required keys: editors offer each of them as a whole, by title. */
function titled(part: JsonSchema, key: string): JsonSchema {
  const { title, anyOf, items, required } = part;
  if (title !== undefined) return part;
  const alternatives = anyOf?.map((each) => alternative(each, key.toLowerCase()));
  return {
    ...(required && { title: key }),
    ...part,
    ...(alternatives && { anyOf: alternatives }),
    ...(isSchema(items) && { items: titled(items as JsonSchema, key) }),
  } as JsonSchema;
}

/** Gives a title to one of several forms of a value: `fault: crc`. */
function alternative(schema: JsonSchema, key: string): JsonSchema {
  const { title, type, required, properties = {}, description, ...rest } = schema;
  if (title !== undefined || type !== 'object' || !required) return titled(schema, key);
  const named = `${key}: ${required[0]}`;
  const [only, ...more] = Object.entries(properties);
  if (only === undefined || more.length > 0 || description === undefined)
    return { title: named, ...schema } as JsonSchema;
  // One key names the kind: key and kind are one completion entry, with one description.
  const [kind, parameters] = only as [string, JsonSchema];
  const about = { [kind]: { description, ...parameters } };
  return { title: named, type, properties: about, minProperties: 1, ...rest } as JsonSchema;
}
