import { readFileSync } from 'node:fs';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { fileBesideCode, version } from '../../../common/package.js';
import { JSON_TYPE } from '../answers.js';
import { madeOnce } from '../made.js';
import { type OpenApiDocument, openApiDocument } from './document.js';
import type { Operation } from './operation.js';
import { documentPage } from './page.js';

const HTML = 'text/html';
const CSS = 'text/css';

const text = z.string();

/**
 * Serves `/api/v1/openapi.json`, and for people `/api/v1/docs`: a page without scripts that is made from the
 * document.
 * @param operations the routes of the application; complete when the first request arrives
 */
export function openApiRoutes(operations: readonly Operation[]): FastifyPluginCallbackZod {
  // Made at the first request, because the routes do not change while the program runs.
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
          description: 'The page has no script, and needs nothing from other servers.',
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
          summary: 'Get the style of the page for browsers',
          description: 'It follows the light or dark setting of the browser.',
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

/** The style of the console and the own style of the page. */
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
