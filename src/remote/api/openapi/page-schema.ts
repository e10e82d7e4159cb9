import { isMapping } from '../../../common/schema/parts.js';
import type { JsonSchema } from '../../../common/schema/written-as.js';
import { idOfReference } from '../schema-json.js';
import { type Html, html, prose } from './html.js';

/** A schema as HTML: its type in words, and a list of its fields if it has some. */
export function schemaHtml(schema: JsonSchema): Html {
  const { description = '' } = schema;
  return html`<p>${typeHtml(schema)} ${prose(description)}</p>${fieldsHtml(schema)}`;
}

/** The fields of an object, of the elements of a list, or of all options. */
function fieldsHtml(schema: JsonSchema): Html[] {
  const { properties, required = [], items } = schema;
  if (isMapping(items)) return fieldsHtml(items as JsonSchema);
  if (!properties) return (schema.anyOf ?? []).flatMap(optionHtml);
  const fields = Object.entries(properties).map(([name, property]) => {
    const field = property as JsonSchema;
    const optional = required.includes(name) ? '' : html` <i>optional</i>`;
    return html`<dt><code>${name}</code> ${typeHtml(field)}${optional}</dt>
<dd>${prose(field.description ?? '')}${fieldsHtml(field)}</dd>`;
  });
  return fields.length > 0 ? [html`<dl>${fields}</dl>`] : [];
}

/** The fields of one option of several, below what it is. */
function optionHtml(schema: JsonSchema): Html[] {
  const fields = fieldsHtml(schema);
  const { description } = schema;
  return fields.length > 0 && description !== undefined
    ? [html`<p>${prose(description)}</p>`, ...fields]
    : fields;
}

/** Most options of a choice that are listed. */
const MOST_OPTIONS = 6;

/** The type of a schema in words, with links to the components that it refers to. */
export function typeHtml(schema: JsonSchema): Html {
  const id = idOfReference(schema);
  if (id !== undefined) return html`<a href="#schema-${id}">${id}</a>`;
  const options = schema.anyOf ?? schema.oneOf;
  if (options) {
    const shown = options
      .slice(0, MOST_OPTIONS)
      .map((option, i) => html`${i > 0 ? ' or ' : ''}${typeHtml(option)}`);
    return html`${shown}${options.length > MOST_OPTIONS ? ` or ${options.length - MOST_OPTIONS} more` : ''}`;
  }
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum) {
    return html`${schema.enum.map((value, i) => html`${i > 0 ? ', ' : ''}<code>${JSON.stringify(value)}</code>`)}`;
  }
  if (schema.type === 'array') {
    return isMapping(schema.items) ? html`list of ${typeHtml(schema.items as JsonSchema)}` : html`list`;
  }
  return html`${typeText(schema)}`;
}

function typeText(schema: JsonSchema): string {
  const { type, minimum, maximum, default: preset } = schema;
  const range = [
    minimum === undefined ? undefined : `from ${minimum}`,
    maximum === undefined ? undefined : `to ${maximum}`,
    preset === undefined ? undefined : `default ${JSON.stringify(preset)}`,
  ].filter((text) => text !== undefined);
  if (type === 'object' && schema.properties) {
    const names = Object.keys(schema.properties);
    return names.length === 1 ? `object with ${names[0]}` : 'object';
  }
  return [type ?? 'anything', ...range].join(' ');
}
