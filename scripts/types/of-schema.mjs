/*
 * Converts JSON Schema (draft 07) to TypeScript types, so that compilers complete in a program what editors
 * complete in a file. Bounds, patterns and conditions between keys have no types, so the program checks them
 * when it reads the configuration.
 */

/**
 * The part of a schema that determines a type.
 * @typedef {object} Schema
 * @property {string} [description]
 * @property {string} [$ref]
 * @property {string | string[]} [type]
 * @property {readonly unknown[]} [enum]
 * @property {unknown} [const]
 * @property {Schema} [not]
 * @property {Schema[]} [anyOf]
 * @property {Schema[]} [allOf]
 * @property {Record<string, Schema>} [properties]
 * @property {string[]} [required]
 * @property {Schema | boolean} [additionalProperties]
 * @property {Record<string, Schema>} [patternProperties]
 * @property {Schema | Schema[]} [items]
 * @property {Record<string, Schema>} [definitions]
 */

/** @type {Readonly<Record<string, string>>} */
const TYPES = { integer: 'number', number: 'number', string: 'string', boolean: 'boolean', null: 'null' };

/**
 * Writes a type for a schema, and one for each of its definitions.
 * @param {string} name
 * @param {Schema} schema
 */
export function typesOfSchema(name, schema) {
  const { definitions = {}, ...whole } = schema;
  return Object.entries({ [name]: whole, ...definitions })
    .map(([each, of]) => `${comment(of, '')}export type ${each} = ${typeOf(of, '')};\n`)
    .join('\n');
}

/**
 * @param {Schema} schema
 * @param {string} indent of the line on which the type begins
 * @returns {string}
 */
function typeOf(schema, indent) {
  const { $ref, anyOf, allOf, type, items } = schema;
  if ('not' in schema) return 'never';
  if ($ref !== undefined) return $ref.replace('#/definitions/', '');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  // In a schema with both, `anyOf` says which of its keys go together.
  if (schema.properties) return object(schema, indent);
  if (allOf?.length === 1) return typeOf(/** @type {Schema} */ (allOf[0]), indent);
  if (anyOf) return union(anyOf.map((each) => typeOf(each, indent)));
  if (Array.isArray(type)) return union(type.map((each) => TYPES[each] ?? 'unknown'));
  if (type === 'array') return array(items, indent);
  if (type === 'object') return object(schema, indent);
  return TYPES[type ?? ''] ?? 'unknown';
}

/** @param {readonly string[]} types */
function union(types) {
  return [...new Set(types)].join(' | ');
}

/**
 * @param {Schema | Schema[] | undefined} items
 * @param {string} indent
 */
function array(items, indent) {
  if (Array.isArray(items)) return `readonly [${items.map((each) => typeOf(each, indent)).join(', ')}]`;
  const of = items ? typeOf(items, indent) : 'unknown';
  return `readonly ${of.includes(' | ') || of.startsWith('readonly') ? `(${of})` : of}[]`;
}

/**
 * @param {Schema} schema
 * @param {string} indent
 */
function object(schema, indent) {
  const { properties = {}, additionalProperties, patternProperties = {}, allOf = [] } = schema;
  // A schema for editors may list the keys required by the whole separately.
  const required = [schema, ...allOf].flatMap((each) => each.required ?? []);
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([key, of]) => {
    const optional = required.includes(key) ? '' : '?';
    const name = /^[\w$]+$/.test(key) ? key : JSON.stringify(key);
    return `${comment(of, inner)}${inner}readonly ${name}${optional}: ${typeOf(of, inner)};\n`;
  });
  const others = [...Object.values(patternProperties), additionalProperties].filter(
    (of) => typeof of === 'object',
  );
  if (others.length > 0) {
    const of = members.length > 0 ? 'unknown' : union(others.map((each) => typeOf(each, inner)));
    members.push(`${inner}readonly [key: string]: ${of};\n`);
  }
  return members.length === 0 ? '{ readonly [key: string]: unknown }' : `{\n${members.join('')}${indent}}`;
}

/**
 * @param {Schema} schema
 * @param {string} indent
 */
function comment({ description }, indent) {
  return description === undefined ? '' : `${indent}/** ${description.replaceAll('*/', '* /')} */\n`;
}
