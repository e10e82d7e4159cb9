import { z } from 'zod';

/** The documented forms, keyed by the schema object, as zod keys its own descriptions. */
const forms = new WeakMap<object, () => z.ZodType>();

/** A sentence or two about each key of a section, for documents and editors. */
export type KeyNotes<Key extends PropertyKey = string> = { readonly [K in Key]?: string };

const notes = new WeakMap<object, KeyNotes>();

/**
 * Says what an input looks like for a schema that takes any input and checks it by a function. Documents are
 * made from `form`, which is made when a document needs it; nothing is checked against it.
 */
export function documentAs(schema: object, form: () => z.ZodType): void {
  forms.set(schema, form);
}

/** Says what the keys of a section are for. */
export function noteKeys(section: z.ZodObject, about: KeyNotes): void {
  notes.set(section, about);
  documentAs(section, () => formOf(section));
}

/**
 * Returns the documented form of a section: its keys with what they are for, and with `contents` for keys
 * whose contents are read apart.
 */
export function formOf(section: z.ZodObject, contents: Readonly<Record<string, z.ZodType>> = {}): z.ZodType {
  const about: Readonly<Record<string, string | undefined>> = notes.get(section) ?? {};
  const optional = Object.entries(contents).map(([key, schema]) => [key, schema.optional()]);
  const shape = Object.entries({ ...section.shape, ...Object.fromEntries(optional) }).map(([key, schema]) => {
    const note = about[key];
    return [key, note === undefined ? schema : (schema as z.ZodType).describe(note)];
  });
  return z.strictObject(Object.fromEntries(shape));
}

/** Returns what an input of the schema looks like; undefined where the schema itself says it. */
export function documentedForm(schema: z.core.$ZodType): z.ZodType | undefined {
  // A schema with a description is a copy of the one without.
  const { parent } = schema._zod;
  return forms.get(schema)?.() ?? (parent && documentedForm(parent));
}
