import { z } from 'zod';

/** The documented forms, keyed by the schema object, like zod's own descriptions. */
const forms = new WeakMap<object, () => z.ZodType>();

/** One or two sentences about each key of a section, for documents and editors. */
export type KeyNotes<Key extends PropertyKey = string> = { readonly [K in Key]?: string };

/** Keys of JSON Schema that zod can't express. */
export type Keywords = Readonly<Record<string, unknown>>;

const notes = new WeakMap<object, { readonly about: KeyNotes; readonly keywords: Keywords }>();

/**
 * Specifies what an input looks like for a schema that accepts any input and checks it with a function.
 * Documents are generated from `form`, which is created when a document needs it; nothing is checked against
 * it.
 */
export function documentAs(schema: object, form: () => z.ZodType): void {
  let made: z.ZodType | undefined;
  forms.set(schema, () => (made ??= form()));
}

/** Specifies what the keys of a section are for, and what documents say about it as a whole. */
export function noteKeys(section: z.ZodObject, about: KeyNotes, keywords: Keywords): void {
  notes.set(section, { about, keywords });
  documentAs(section, () => formOf(section));
}

/**
 * Returns the documented form of a section: its keys and what they are for.
 * @param more keys that are replaced before the section is checked
 */
export function formOf(section: z.ZodObject, more: Readonly<Record<string, z.ZodType>> = {}): z.ZodType {
  const { about, keywords } = notes.get(section) ?? { about: {}, keywords: {} };
  const shape = Object.entries({ ...section.shape, ...more }).map(([key, schema]) => {
    const form = schema instanceof z.ZodOptional ? forms.get(schema)?.().optional() : undefined;
    const note = (about as KeyNotes)[key];
    const written = form ?? (schema as z.ZodType);
    return [key, note === undefined ? written : written.describe(note)];
  });
  return having(z.strictObject(Object.fromEntries(shape)), keywords);
}

/** Adds keys of JSON Schema that zod can't express. */
export function having<Schema extends z.ZodType>(schema: Schema, keywords: Keywords): Schema {
  return schema.meta({ ...z.globalRegistry.get(schema), ...keywords });
}

/** Specifies that a mapping needs at least one of these keys. */
export const oneOfKeys = (...keys: string[]) => ({ anyOf: keys.map((key) => ({ required: [key] })) });

/** The form of a mapping whose keys the user chooses. */
export const mappingOf = (key: RegExp, content: z.ZodType) =>
  having(z.record(z.string().regex(key), content), { minProperties: 1 });

/** Returns the form of an input of the schema; undefined if the schema itself describes it. */
function documentedForm(schema: z.core.$ZodType): z.ZodType | undefined {
  // A schema with a description is a copy of the one without.
  const { parent } = schema._zod;
  return forms.get(schema)?.() ?? (parent && documentedForm(parent));
}

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The direction of a schema: what people and clients send (`input`), or what they receive (`output`). */
export type SchemaUse = 'input' | 'output';

/** The drafts in which documents are generated: OpenAPI 3.1 uses the newer one, editors read the older one. */
type Draft = 'draft-2020-12' | 'draft-07';

/** Converts zod schemas to JSON Schema. Schemas with an `id` become definitions, which the others refer to. */
export class SchemaConverter {
  readonly definitions: Record<string, JsonSchema> = {};
  readonly #draft: Draft;
  readonly #prefix: string;
  readonly #converted = { input: new Map<z.ZodType, JsonSchema>(), output: new Map<z.ZodType, JsonSchema>() };

  /** @param prefix precedes the name of a definition in references */
  constructor(draft: Draft, prefix: string) {
    this.#draft = draft;
    this.#prefix = prefix;
  }

  /** Converts a schema. The result is cached, so a second call takes no time. */
  convert(schema: z.ZodType, io: SchemaUse): JsonSchema {
    const known = this.#converted[io].get(schema);
    if (known) return known;
    const converted = this.#convert(schema, io);
    this.#converted[io].set(schema, converted);
    return converted;
  }

  #convert(schema: z.ZodType, io: SchemaUse): JsonSchema {
    // Converted as part of another schema, because the schema itself may have an `id`.
    const {
      properties,
      $defs,
      definitions = $defs,
    } = z.toJSONSchema(z.object({ schema }), {
      io,
      target: this.#draft,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        const written = io === 'input' ? documentedForm(zodSchema) : undefined;
        if (written) replaceForm(jsonSchema, this.convert(written, io));
        if (io === 'input') restoreNotes(zodSchema, jsonSchema);
        dropLimitsOfIntegers(jsonSchema);
        giveItems(jsonSchema);
        leaveFlagsOut(jsonSchema);
      },
    });
    for (const [id, definition] of Object.entries(definitions ?? {}))
      this.definitions[id] ??= this.#withReferences(definition as JsonSchema);
    return this.#withReferences(properties?.schema as JsonSchema);
  }

  #withReferences<Part extends object>(part: Part): Part {
    return JSON.parse(JSON.stringify(part), (key, value) => {
      if (key === '$ref' && typeof value === 'string')
        return value.replace(/^#\/(?:\$defs|definitions)\//, this.#prefix);
      return this.#draft === 'draft-2020-12' ? withRequired(value) : value;
    }) as Part;
  }
}

/** Replaces the form that zod generated with the documented one. The description stays. */
function replaceForm(schema: JsonSchema, written: JsonSchema): void {
  if (written.type === undefined)
    for (const key of ['type', 'properties', 'required', 'additionalProperties'] as const) delete schema[key];
  Object.assign(schema, written);
}

/**
 * Returns an alternative that only requires keys, with those keys defined in it: readers of OpenAPI look for
 * them there.
 */
function withRequired(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('required' in value)) return value;
  const { required, properties, type } = value as JsonSchema;
  if (!Array.isArray(required) || properties !== undefined || type !== undefined) return value;
  return { ...value, properties: Object.fromEntries(required.map((key) => [key, {}])) };
}

/**
 * Restores examples and defaults of schemas with transforms. zod leaves them out for inputs, because they may
 * be about the output.
 */
function restoreNotes(schema: z.core.$ZodTypes, json: JsonSchema): void {
  const examples: unknown = z.globalRegistry.get(schema as z.core.$ZodType)?.examples;
  if (Array.isArray(examples)) json.examples = examples;
  const { def } = schema._zod;
  if (def.type === 'default') json.default = def.defaultValue as NonNullable<JsonSchema['default']>;
}

/** Removes the limits that zod writes for exact integers, because they carry no information. */
function dropLimitsOfIntegers(schema: JsonSchema): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

/** Writes a tuple of equal parts as a list of that length: some readers expect `items` in every list. */
function giveItems(schema: JsonSchema): void {
  const parts = schema.prefixItems ?? (Array.isArray(schema.items) ? (schema.items as JsonSchema[]) : []);
  const [first, ...others] = parts.map((part) => JSON.stringify(part));
  if (first === undefined || others.some((other) => other !== first)) return;
  if (schema.prefixItems && schema.items) return;
  delete schema.prefixItems;
  delete schema.additionalItems;
  Object.assign(schema, { items: parts[0], minItems: parts.length, maxItems: parts.length });
}

/** Writes a pattern so that it means the same without the flag `u`, which some readers do not set. */
function leaveFlagsOut(schema: JsonSchema): void {
  schema.pattern &&= schema.pattern
    .replaceAll('\\P{Cc}', '[^\\u0000-\\u001f\\u007f-\\u009f]')
    .replaceAll('\\p{Cc}', '\\u0000-\\u001f\\u007f-\\u009f');
}
