import { z } from 'zod';

/** A number as it stands in a query; text that is none is left for the schema to refuse. */
export function inQuery<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((text) => (typeof text === 'string' && text.trim() ? Number(text) : text), schema);
}
