import { isMapping } from '../../../common/schema/parts.js';
import type { JsonSchema } from '../../../common/schema/written-as.js';
import type { Components } from '../schema-json.js';

/**
 * An example of a schema: its first one, or one that is made of the examples of its parts. Undefined if a
 * required part has none.
 */
export function exampleOf(schema: JsonSchema, components: Components): unknown {
  const resolved = components.resolve(schema);
  const [given] = resolved.examples ?? [];
  if (given !== undefined) return given;
  if (resolved.const !== undefined) return resolved.const;
  if (resolved.default !== undefined) return resolved.default;
  if (resolved.enum?.[0] !== undefined) return resolved.enum[0];
  for (const option of resolved.anyOf ?? resolved.oneOf ?? []) {
    const example = exampleOf(option, components);
    if (example !== undefined) return example;
  }
  if (resolved.type === 'array') return listExample(resolved, components);
  return resolved.type === 'object' ? objectExample(resolved, components) : undefined;
}

function listExample({ items }: JsonSchema, components: Components): unknown {
  const example = isMapping(items) ? exampleOf(items, components) : undefined;
  return example === undefined ? undefined : [example];
}

function objectExample({ properties = {}, required = [] }: JsonSchema, components: Components): unknown {
  const example: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const part = isMapping(property) ? exampleOf(property, components) : undefined;
    if (part !== undefined) example[name] = part;
    else if (required.includes(name)) return undefined;
  }
  return example;
}
