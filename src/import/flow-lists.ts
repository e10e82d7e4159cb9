import type { YAMLMap, YAMLSeq } from 'yaml';

/** Puts lists of plain values of a document on one line each. */
export function flowLists(node: YAMLMap | YAMLSeq): void {
  const { items } = node;
  for (const item of items as unknown[]) {
    const value = isPair(item) ? item.value : item;
    if (isCollection(value)) flowLists(value);
  }
  const isPlain = (item: unknown) => !isPair(item) && !isCollection(item);
  if (items.length > 0 && (items as unknown[]).every(isPlain)) node.flow = true;
}

function isPair(item: unknown): item is { readonly value: unknown } {
  return typeof item === 'object' && item !== null && 'key' in item && 'value' in item;
}

function isCollection(node: unknown): node is YAMLMap | YAMLSeq {
  return typeof node === 'object' && node !== null && 'items' in node;
}
