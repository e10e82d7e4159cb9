import type { LeafShape, Shape } from './shape.js';

/** The content of a form, valid or not: texts, in the shape of the value. */
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
 * The value of a draft; undefined if the draft is empty. Text that can't be read stays text, so that the
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

/** A truth value or a number if the text is one; otherwise the text. */
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
