import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { fileBesideCode } from '../../common/package.js';
import { type JsonSchema, SchemaConverter, type SchemaUse } from '../../common/schema/written-as.js';

const PREFIX = '#/components/schemas/';
const RECORDED = fileBesideCode('remote/api/openapi/examples.json');

/** The schemas of an OpenAPI document. Those with an `id` are components, and the others refer to them. */
export class Components {
  readonly #converter = new SchemaConverter('draft-2020-12', PREFIX);
  /** Examples for components that have none of their own. `test/remote/api/openapi.test.ts` records them from a run. */
  readonly #recorded: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(RECORDED, 'utf8'));

  get schemas(): Record<string, JsonSchema> {
    const entries = Object.entries(this.#converter.definitions).map(([id, definition]) => [
      id,
      id in this.#recorded ? { examples: [this.#recorded[id]], ...definition } : definition,
    ]);
    return Object.fromEntries(entries);
  }

  convert(schema: z.ZodType, io: SchemaUse): JsonSchema {
    return this.#converter.convert(schema, io);
  }

  /** Follows a reference to its schema. Returns any other schema unchanged. */
  resolve(schema: JsonSchema): JsonSchema {
    const id = idOfReference(schema);
    return (id === undefined ? undefined : this.schemas[id]) ?? schema;
  }
}

/** The name of the component that a schema refers to. */
export function idOfReference({ $ref }: JsonSchema): string | undefined {
  return $ref?.startsWith(PREFIX) ? $ref.slice(PREFIX.length) : undefined;
}
