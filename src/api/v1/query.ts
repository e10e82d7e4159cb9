import { z } from 'zod';

/** A number as it stands in a query; other text is left for the schema to refuse. */
export function inQuery<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (text) => (typeof text === 'string' && NUMBER.test(text) ? Number(text) : text),
    schema,
  );
}

const NUMBER = /^\s*-?\d{1,15}(?:\.\d{1,15})?\s*$/;
