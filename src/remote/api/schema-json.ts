import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { fileBesideCode } from '../../common/package.js';
import { documentedForm } from '../../common/schema/written-as.js';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The direction of a schema: what clients send (`input`), or what they receive (`output`). */
export type SchemaUse = 'input' | 'output';

const PREFIX = '#/components/schemas/';
const RECORDED = fileBesideCode('remote/api/openapi/examples.json');

/**
 * Converts schemas of zod to JSON Schema. Schemas with an `id` become components, and the others refer to
 * them.
 */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  /**
   * Examples of components that have none of their own. They are recorded from a run by
   * `test/remote/api/openapi.test.ts`.
   */
  readonly #recorded: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(RECORDED, 'utf8'));
  readonly #converted = { input: new Map<z.ZodType, JsonSchema>(), output: new Map<z.ZodType, JsonSchema>() };

  /** Converts a schema. The result is kept, so a second call takes no time. */
  convert(schema: z.ZodType, io: SchemaUse): JsonSchema {
    const known = this.#converted[io].get(schema);
    if (known) return known;
    const converted = this.#convert(schema, io);
    this.#converted[io].set(schema, converted);
    return converted;
  }

  #convert(schema: z.ZodType, io: SchemaUse): JsonSchema {
    // Converted as a part of another schema, because the schema itself may have an `id`.
    const { properties, $defs = {} } = z.toJSONSchema(z.object({ schema }), {
      io,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        const written = io === 'input' ? documentedForm(zodSchema) : undefined;
        if (written) Object.assign(jsonSchema, this.convert(written, io));
        if (io === 'input') restoreNotes(zodSchema, jsonSchema);
        dropLimitsOfIntegers(jsonSchema);
        giveItems(jsonSchema);
        leaveFlagsOut(jsonSchema);
      },
    });
    for (const [id, definition] of Object.entries(withReferences($defs)))
      this.schemas[id] =
        id in this.#recorded ? { examples: [this.#recorded[id]], ...definition } : definition;
    return withReferences(properties?.schema as JsonSchema);
  }

  /** Follows a reference to its schema. Any other schema is returned as it is. */
  resolve(schema: JsonSchema): JsonSchema {
    const id = idOfReference(schema);
    return (id === undefined ? undefined : this.schemas[id]) ?? schema;
  }
}

/** The name of the component that a schema refers to. */
export function idOfReference({ $ref }: JsonSchema): string | undefined {
  return $ref?.startsWith(PREFIX) ? $ref.slice(PREFIX.length) : undefined;
}

/**
 * Restores examples and defaults of schemas that transform. zod leaves them out for inputs, because they may
 * be about the output.
 */
function restoreNotes(schema: z.core.$ZodTypes, json: JsonSchema): void {
  const examples: unknown = z.globalRegistry.get(schema as z.core.$ZodType)?.examples;
  if (Array.isArray(examples)) json.examples = examples;
  const { def } = schema._zod;
  if (def.type === 'default') json.default = def.defaultValue as NonNullable<JsonSchema['default']>;
}

/** Removes the limits that zod writes for exact integers, because they say nothing. */
function dropLimitsOfIntegers(schema: JsonSchema): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

/** Writes a tuple of equal parts as a list of that length: some readers want `items` in every list. */
function giveItems(schema: JsonSchema): void {
  const { prefixItems = [] } = schema;
  const [first, ...others] = prefixItems.map((part) => JSON.stringify(part));
  if (first === undefined || schema.items || others.some((other) => other !== first)) return;
  delete schema.prefixItems;
  Object.assign(schema, {
    items: prefixItems[0],
    minItems: prefixItems.length,
    maxItems: prefixItems.length,
  });
}

/** Writes a pattern so that it means the same without the flag `u`, which some readers do not set. */
function leaveFlagsOut(schema: JsonSchema): void {
  schema.pattern &&= schema.pattern.replaceAll('\\P{Cc}', '[^\\u0000-\\u001f\\u007f-\\u009f]');
}

function withReferences<Part extends object>(part: Part): Part {
  return JSON.parse(JSON.stringify(part), (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', PREFIX) : value,
  ) as Part;
}
