import type { z } from 'zod';

/** The documented forms, keyed by the schema object, as zod keys its own descriptions. */
const forms = new WeakMap<object, z.ZodType>();

/**
 * Says what an input looks like for a schema that takes any input and checks it by a function. Documents are
 * made from `form`; nothing is checked against it.
 */
export function documentAs(schema: object, form: z.ZodType): void {
  forms.set(schema, form);
}

/** Returns what an input of the schema looks like; undefined where the schema itself says it. */
export function documentedForm(schema: z.core.$ZodType): z.ZodType | undefined {
  // A schema with a description is a copy of the one without.
  const { parent } = schema._zod;
  return forms.get(schema) ?? (parent && documentedForm(parent));
}
