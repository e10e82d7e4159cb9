import type { z } from 'zod';

/** By schema. Keyed by the schema object, as zod keys its own descriptions. */
const forms = new WeakMap<object, z.ZodType>();

/**
 * For a schema that takes any input and checks it by a function: says what such an input looks like. Documents are made
 * from `form`; nothing is checked by it.
 */
export function documentAs(schema: object, form: z.ZodType): void {
  forms.set(schema, form);
}

/** What an input of the schema looks like; undefined where the schema itself says it. */
export function documentedForm(schema: z.core.$ZodType): z.ZodType | undefined {
  // A schema with a description is a copy of the one without.
  const { parent } = schema._zod;
  return forms.get(schema) ?? (parent && documentedForm(parent));
}
