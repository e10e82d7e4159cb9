import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { fileBesideCode } from '../../common/package.js';
import { documentedForm } from '../../common/schema/written-as.js';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Whether a schema is for what clients send (`input`), or for what they get (`output`). */
export type SchemaUse = 'input' | 'output';

const PREFIX = '#/components/schemas/';
const RECORDED = fileBesideCode('remote/api/openapi/examples.json');

/** Turns zod's schemas into JSON Schema. Those with an `id` become components, to which the others refer. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  /** Examples of components that have none of their own, from a run: `test/remote/api/openapi.test.ts` records them. */
  readonly #recorded: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(RECORDED, 'utf8'));
  readonly #converted = { input: new Map<z.ZodType, JsonSchema>(), output: new Map<z.ZodType, JsonSchema>() };

  /** Converts a schema; one that was converted before takes no time. */
  convert(schema: z.ZodType, io: SchemaUse): JsonSchema {
    const known = this.#converted[io].get(schema);
    if (known) return known;
    const converted = this.#convert(schema, io);
    this.#converted[io].set(schema, converted);
    return converted;
  }

  #convert(schema: z.ZodType, io: SchemaUse): JsonSchema {
    // The schema itself may have an `id`, so it is converted as a part of another one.
    const { properties, $defs = {} } = z.toJSONSchema(z.object({ schema }), {
      io,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        const written = io === 'input' ? documentedForm(zodSchema) : undefined;
        if (written) Object.assign(jsonSchema, this.convert(written, io));
        if (io === 'input') restoreNotes(zodSchema, jsonSchema);
        dropLimitsOfIntegers(jsonSchema);
      },
    });
    for (const [id, definition] of Object.entries(withReferences($defs)))
      this.schemas[id] =
        id in this.#recorded ? { examples: [this.#recorded[id]], ...definition } : definition;
    return withReferences(properties?.schema as JsonSchema);
  }

  /** The schema that a reference means; any other schema as it is. */
  resolve(schema: JsonSchema): JsonSchema {
    const id = idOfReference(schema);
    return (id === undefined ? undefined : this.schemas[id]) ?? schema;
  }
}

/** The name of the component that a schema refers to. */
export function idOfReference({ $ref }: JsonSchema): string | undefined {
  return $ref?.startsWith(PREFIX) ? $ref.slice(PREFIX.length) : undefined;
}

/** For inputs zod leaves out examples and defaults of schemas that transform, because these may be about the output. */
function restoreNotes(schema: z.core.$ZodTypes, json: JsonSchema): void {
  const examples: unknown = z.globalRegistry.get(schema as z.core.$ZodType)?.examples;
  if (Array.isArray(examples)) json.examples = examples;
  const { def } = schema._zod;
  if (def.type === 'default') json.default = def.defaultValue as NonNullable<JsonSchema['default']>;
}

/** zod writes the limits of exact integers, which say nothing. */
function dropLimitsOfIntegers(schema: JsonSchema): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

function withReferences<Part extends object>(part: Part): Part {
  return JSON.parse(JSON.stringify(part), (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', PREFIX) : value,
  ) as Part;
}
