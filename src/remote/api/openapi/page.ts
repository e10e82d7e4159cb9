import type { DescribedOperation, OpenApiDocument, Parameter } from './document.js';
import { type Html, html, prose } from './html.js';
import { schemaHtml, typeHtml } from './page-schema.js';
import type { MediaType, Response } from './responses.js';

/**
 * An OpenAPI document as an HTML page. The page has no script and no style of its own, because of the
 * Content-Security-Policy.
 */
export function documentPage(document: OpenApiDocument): string {
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

/** An answer as HTML. Errors are only described, because their bodies are all alike. */
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
