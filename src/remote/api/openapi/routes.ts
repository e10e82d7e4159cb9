import { readFileSync } from 'node:fs';
import type { FastifyPluginCallback } from 'fastify';
import { z } from 'zod';
import { fileBesideCode, version } from '../../../common/package.js';
import { isMapping } from '../../../common/schema/parts.js';
import type { JsonSchema } from '../../../common/schema/written-as.js';
import { escaped } from '../../../testing/report/words.js';
import { JSON_TYPE } from '../answers.js';
import { madeOnce } from '../made.js';
import { idOfReference } from '../schema-json.js';
import {
  type DescribedOperation,
  type OpenApiDocument,
  openApiDocument,
  type Parameter,
} from './document.js';
import type { Operation } from './operation.js';
import type { MediaType, Response } from './responses.js';

const HTML = 'text/html';
const CSS = 'text/css';

const text = z.string();

/**
 * Serves `/api/v1/openapi.json`, and `/api/v1/docs` for people: a page without scripts, generated from the
 * document.
 * @param operations the routes of the application; complete when the first request arrives
 */
export function openApiRoutes(operations: readonly Operation[]): FastifyPluginCallback {
  // Produced at the first request, because routes do not change at run time.
  const json = madeOnce('openapi.json', () => openApiDocument(operations, version()));
  const page = once(async () => documentPage(JSON.parse(await json()) as OpenApiDocument));

  return (app, _, done) => {
    app.get(
      '/openapi.json',
      {
        schema: {
          summary: 'Get this document',
          description: 'OpenAPI 3.1, made from the schemas that check the requests.',
          tags: ['program'],
          response: { 200: z.record(text, z.unknown()).meta(DOCUMENT) },
        },
      },
      async (_, reply) => reply.type(JSON_TYPE).send((await json()) as never),
    );

    app.get(
      '/docs',
      {
        schema: {
          summary: 'Read this document in a browser',
          description: 'The page has no scripts and loads nothing from other servers.',
          tags: ['program'],
          response: { 200: { description: 'A page.', content: { [HTML]: { schema: text } } } },
        },
      },
      async (_, reply) => reply.type(`${HTML}; charset=utf-8`).send(await page()),
    );

    app.get(
      '/docs.css',
      {
        schema: {
          summary: 'Get the style sheet of the page for browsers',
          description: "It follows the browser's light or dark setting.",
          tags: ['program'],
          response: { 200: { description: 'A style sheet.', content: { [CSS]: { schema: text } } } },
        },
      },
      async (_, reply) => reply.type(`${CSS}; charset=utf-8`).send(style()),
    );
    done();
  };
}

const DOCUMENT = {
  description: 'An OpenAPI document.',
  examples: [{ openapi: '3.1.1', info: { title: 'modbus-sim', version: '1.0.0-rc.1' }, paths: {} }],
};

/** The console's style and the page's own. */
const style = once(() =>
  ['remote/web/base.css', 'remote/api/openapi/docs.css']
    .map((file) => readFileSync(fileBesideCode(file), 'utf8'))
    .join('\n'),
);

/** Calls `make` the first time, and returns the same result afterwards. */
function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined;
  return () => {
    made ??= { result: make() };
    return made.result;
  };
}

/** A piece of HTML that can be inserted into a page unchanged. */
interface Html {
  readonly html: string;
}

/** Builds HTML. Inserted text is escaped; inserted pieces of HTML and lists of them are not. */
function html(texts: TemplateStringsArray, ...parts: readonly (string | Html | readonly Html[])[]): Html {
  return { html: texts.map((text, i) => text + shown(parts[i] ?? '')).join('') };
}

function shown(part: string | Html | readonly Html[]): string {
  if (typeof part === 'string') return escaped(part);
  return 'html' in part ? part.html : part.map((each) => each.html).join('');
}

/** Converts text, in which backquotes mark code, to HTML. */
function prose(text: string): Html[] {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>` : html`${part}`));
}

/** A schema as HTML: its type in words, and a list of its fields if there are any. */
function schemaHtml(schema: JsonSchema): Html {
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

/** The fields of one option among several, under its type. */
function optionHtml(schema: JsonSchema): Html[] {
  const fields = fieldsHtml(schema);
  const { description } = schema;
  return fields.length > 0 && description !== undefined
    ? [html`<p>${prose(description)}</p>`, ...fields]
    : fields;
}

/** Maximum number of options listed for a choice. */
const MOST_OPTIONS = 6;

/** The type of a schema in words, with links to the components it refers to. */
function typeHtml(schema: JsonSchema): Html {
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

/**
 * An OpenAPI document as an HTML page. The page contains no script or style, because of the
 * Content-Security-Policy.
 */
function documentPage(document: OpenApiDocument): string {
  const { info, tags, components } = document;
  const sections = tags.map(({ name, description }) => {
    const operations = operationsOf(document, name).map(([path, method, operation]) =>
      operationHtml(path, method, operation, components.responses),
    );
    return html`<section id="tag-${name}"><h2>${name}</h2><p>${description}</p>${operations}</section>`;
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => html`<section id="schema-${name}"><h3>${name}</h3>${schemaHtml(schema)}</section>`,
  );
  const links = [...tags.map(({ name }) => [`tag-${name}`, name]), ['schemas', 'schemas']].map(
    ([id = '', text = '']) => html`<li><a href="#${id}">${text}</a></li>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} ${info.version}: REST</title>
<link rel="stylesheet" href="docs.css">
</head>
<body>
<header>
<h1>${info.title} ${info.version}: REST</h1>
${info.description.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`)}
<p>This page shows <a href="openapi.json">openapi.json</a>, an OpenAPI document for programs.</p>
</header>
<nav><ul>${links}</ul></nav>
<main>${sections}<section id="schemas"><h2>schemas</h2>${schemas}</section></main>
</body>
</html>
`.html;
}

type CommonResponses = OpenApiDocument['components']['responses'];

const NOT_DESCRIBED: Response = { description: '' };

type Located = readonly [path: string, method: string, operation: DescribedOperation];

function operationsOf({ paths }: OpenApiDocument, tag: string): Located[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]): Located[] =>
      operation.tags[0] === tag ? [[path, method, operation]] : [],
    ),
  );
}

function operationHtml(
  path: string,
  method: string,
  operation: DescribedOperation,
  common: CommonResponses,
): Html {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  return html`<details id="${operationId}">
<summary><b class="${method}">${method.toUpperCase()}</b> <code>${path}</code> <span>${summary}</span></summary>
<p>${prose(description)}</p>
${parameters.length > 0 ? html`<h4>Parameters</h4><dl>${parameters.map(parameterHtml)}</dl>` : ''}
${requestBody ? html`<h4>Body</h4>${Object.entries(requestBody.content).map(([type, each]) => mediaHtml(type, each))}` : ''}
<h4>Answers</h4>
<dl>${Object.entries(responses).map(([status, response]) => responseHtml(status, '$ref' in response ? common[response.$ref.split('/').at(-1) ?? ''] : response))}</dl>
</details>`;
}

function parameterHtml({ name, in: location, required, description = '', schema }: Parameter): Html {
  return html`<dt><code>${name}</code> ${typeHtml(schema)} <i>in the ${location}${required ? '' : ', optional'}</i></dt><dd>${prose(description)}</dd>`;
}

/** An answer as HTML. Errors are only described, because their bodies all have the same form. */
function responseHtml(status: string, { description, content = {} }: Response = NOT_DESCRIBED): Html {
  const isError = Number(status) >= 400;
  const bodies = isError ? [] : Object.entries(content).map(([type, each]) => mediaHtml(type, each));
  return html`<dt><b class="${isError ? 'error' : 'success'}">${status}</b> ${prose(description)}</dt><dd>${bodies}</dd>`;
}

function mediaHtml(type: string, { schema, example }: MediaType): Html {
  return html`<p class="type">${type}</p>${schemaHtml(schema)}${
    example === undefined ? '' : html`<pre>${JSON.stringify(example, null, 2)}</pre>`
  }`;
}
