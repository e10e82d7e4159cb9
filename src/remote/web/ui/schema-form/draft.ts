import type { ServedSchema } from '../../../api/v1/schemas.js';

type JsonSchema = ServedSchema['schema'];

/** A part of a form, generated from the JSON Schema of a value. */
export type Shape = ObjectShape | ChoiceShape | ListShape | LeafShape | FixedShape;

export interface ObjectShape {
  readonly kind: 'object';
  readonly about: string;
  readonly fields: readonly { readonly key: string; readonly isRequired: boolean; readonly shape: Shape }[];
  /** The key that a plain value is short for: `250` means `{ms: 250}`. */
  readonly plainKey: string | undefined;
}

/** One of several objects with one key each, such as the faults of a rule. */
export interface ChoiceShape {
  readonly kind: 'choice';
  readonly about: string;
  readonly options: readonly { readonly key: string; readonly about: string; readonly shape: Shape }[];
}

export interface ListShape {
  readonly kind: 'list';
  readonly about: string;
  readonly item: Shape;
}

/** A value that is written as text. */
export interface LeafShape {
  readonly kind: 'leaf';
  readonly about: string;
  /** All possible values; undefined if there are others. */
  readonly choices: readonly string[] | undefined;
  /** Some of the possible values. */
  readonly offers: readonly string[];
  /** Whether the value is a list such as `1, 2`, or may be one. */
  readonly list: 'never' | 'may be' | 'always';
  /** Whether every value is text, so that `1` is a name and not a number. */
  readonly isText: boolean;
  /** The limits of a number, if it has both. */
  readonly range: readonly [number, number] | undefined;
}

/** A value with only one option. */
interface FixedShape {
  readonly kind: 'fixed';
  readonly about: string;
  readonly value: unknown;
}

export function shapeOf({ schema, components }: ServedSchema): Shape {
  return shape(schema, '');

  function shape(given: JsonSchema, outer: string): Shape {
    const about = plain(given.description ?? outer);
    const variants = flat(given);
    const list = variants.find((each) => each.type === 'array' && isObject(itemOf(each)));
    if (list) return { kind: 'list', about, item: shape(itemOf(list), '') };
    const objects = variants.filter(isObject);
    if (objects.length > 1) return { kind: 'choice', about, options: objects.map(option) };
    const [object] = objects;
    if (object) return objectShape(object, variants.length > 1, plain(object.description ?? about));
    const [only] = variants;
    if (only && variants.length === 1 && only.const !== undefined) {
      return { kind: 'fixed', about, value: only.const };
    }
    return leaf(variants, about, given.default);
  }

  function objectShape(object: JsonSchema, hasPlain: boolean, about: string): ObjectShape {
    const entries = Object.entries(object.properties ?? {}) as [string, JsonSchema][];
    return {
      kind: 'object',
      about,
      fields: entries.map(([key, value]) => ({
        key,
        isRequired: object.required?.includes(key) === true,
        shape: shape(value, ''),
      })),
      plainKey: hasPlain ? entries[0]?.[0] : undefined,
    };
  }

  function option(object: JsonSchema): ChoiceShape['options'][number] {
    const [[key, value] = ['', {}]] = Object.entries(object.properties ?? {}) as [string, JsonSchema][];
    return { key, about: plain(object.description ?? ''), shape: shape(value, '') };
  }

  /** The variants of a union, including variants of nested unions; the schema itself if it is not a union. */
  function flat(given: JsonSchema): JsonSchema[] {
    const { $ref, anyOf } = given;
    if ($ref !== undefined) {
      const target = components.schemas[$ref.split('/').at(-1) ?? ''];
      return target ? flat(target) : [];
    }
    return anyOf ? anyOf.flatMap((each) => flat(each as JsonSchema)) : [given];
  }

  function itemOf(list: JsonSchema): JsonSchema {
    const [first, ...others] = flat((list.items ?? {}) as JsonSchema);
    return others.length > 0 ? ((list.items ?? {}) as JsonSchema) : (first ?? {});
  }

  function isObject(given: JsonSchema): boolean {
    return flat(given).every((each) => each.properties !== undefined);
  }
}

function leaf(variants: readonly JsonSchema[], about: string, preset: unknown): LeafShape {
  const named = variants.flatMap(({ enum: values = [], const: only }) =>
    only === undefined ? values : [only],
  );
  const isBoolean = variants.every(({ type }) => type === 'boolean');
  const isClosed = variants.every((each) => each.enum !== undefined || each.const !== undefined);
  const known = isBoolean ? ['true', 'false'] : named.map(String);
  const lists = variants.filter(({ type }) => type === 'array');
  const texts = variants.filter(({ type }) => type !== 'array');
  const isList = texts.every((each) => each.const !== undefined) && lists.length > 0;
  const sentences = [
    sentence(about),
    isDuration(variants) ? 'In ms, or with a unit: 20s, 5m.' : '',
    preset === undefined
      ? limits(variants)
      : `Default: ${typeof preset === 'string' ? preset : JSON.stringify(preset)}.`,
  ];
  const [{ minimum, maximum } = {}] = variants;
  const isRange = variants.length === 1 && minimum !== undefined && maximum !== undefined;
  return {
    kind: 'leaf',
    about: sentences.filter((text) => text !== '').join(' '),
    choices: isBoolean || isClosed ? known : undefined,
    offers: known,
    list: lists.length === 0 ? 'never' : isList ? 'always' : 'may be',
    isText: (isList ? lists.map(({ items }) => (items ?? {}) as JsonSchema) : texts).every(
      ({ type }) => type === 'string',
    ),
    range: isRange ? [minimum, maximum] : undefined,
  };
}

/** Removes the backticks around names in descriptions, which are Markdown. */
export const plain = (text: string) => text.replaceAll('`', '');

/** Adds a full stop to a sentence, if more sentences follow. */
const sentence = (text: string) => (text === '' || /[.)]$/.test(text) ? text : `${text}.`);

/** Whether the variants describe a time: a number of ms, or a string with a unit. */
function isDuration(variants: readonly JsonSchema[]): boolean {
  return variants.length > 1 && variants.some(({ pattern }) => pattern?.includes('ms|s|m|h') === true);
}

/** The limits of a number in words; empty if it has none or is not the only variant. */
function limits(variants: readonly JsonSchema[]): string {
  const number = variants.find(({ type }) => type === 'integer' || type === 'number');
  if (!number || (number.minimum === undefined && number.maximum === undefined)) return '';
  const { minimum = 0, maximum } = number;
  return maximum === undefined ? `${minimum} or more.` : `${minimum} to ${maximum}.`;
}

/** The content of a form, valid or not: strings, in the shape of the value. */
export type Draft = string | readonly Draft[] | { readonly [key: string]: Draft };

export type ObjectDraft = { readonly [key: string]: Draft };

/** The draft of a value; an empty draft if there is no value. */
export function draftOf(shape: Shape, value: unknown): Draft {
  switch (shape.kind) {
    case 'fixed':
      return '';
    case 'leaf':
      return textOf(value);
    case 'list':
      return (value === undefined ? [] : [value].flat()).map((each) => draftOf(shape.item, each));
    case 'choice': {
      const [[key, of] = [shape.options[0]?.key ?? '', undefined]] = Object.entries(
        isObject(value) ? value : {},
      );
      return chosen(shape, key, of);
    }
    case 'object': {
      const { plainKey, fields } = shape;
      const isPlain = value !== undefined && !isObject(value) && plainKey !== undefined;
      const source = isPlain ? { [plainKey]: value } : isObject(value) ? value : {};
      return Object.fromEntries(fields.map((field) => [field.key, draftOf(field.shape, source[field.key])]));
    }
  }
}

/** The draft of a choice with `key` chosen. */
export function chosen(shape: Extract<Shape, { kind: 'choice' }>, key: string, value?: unknown): Draft {
  const option = shape.options.find((each) => each.key === key);
  return { [key]: option ? draftOf(option.shape, value) : '' };
}

/**
 * The value of a draft; undefined if the draft is empty. Text that can't be parsed stays text, so that the
 * server says what is wrong.
 */
export function readDraft(shape: Shape, draft: Draft): unknown {
  switch (shape.kind) {
    case 'fixed':
      return shape.value;
    case 'leaf':
      return readLeaf(shape, String(draft).trim());
    case 'list': {
      const items = (draft as readonly Draft[]).map((each) => readDraft(shape.item, each));
      const known = items.filter((each) => each !== undefined);
      return known.length > 0 ? known : undefined;
    }
    case 'choice': {
      const [[key, of] = ['', '']] = Object.entries(draft as ObjectDraft);
      const option = shape.options.find((each) => each.key === key);
      return option && { [key]: readDraft(option.shape, of) ?? null };
    }
    case 'object': {
      const { plainKey, fields } = shape;
      const entries = fields
        .map(({ key, shape: field }) => [key, readDraft(field, (draft as ObjectDraft)[key] ?? '')] as const)
        .filter(([, value]) => value !== undefined);
      const [first, ...others] = entries;
      if (!first) return undefined;
      return first[0] === plainKey && others.length === 0 ? first[1] : Object.fromEntries(entries);
    }
  }
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) {
    const isFlat = value.every((each) => typeof each !== 'object' && !String(each).includes(','));
    return isFlat ? value.join(', ') : JSON.stringify(value);
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function readLeaf({ isText, list, offers }: LeafShape, text: string): unknown {
  if (text === '') return undefined;
  if (text.startsWith('{') || (list !== 'never' && text.startsWith('['))) return parsed(text) ?? text;
  if ((list === 'always' && !offers.includes(text)) || (list === 'may be' && text.includes(',')))
    return text.split(',').map((part) => (isText ? part.trim() : plainValue(part.trim())));
  return isText ? text : plainValue(text);
}

/** A boolean or number if the text is one; otherwise the text. */
function plainValue(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text) ? Number(text) : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
