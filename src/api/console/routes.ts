import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyPluginAsync } from 'fastify';
import { ASSETS, VIEW_NAMES } from './paths.js';

/** What `scripts/ready.mjs build` makes of `src/web`. */
const BUILT = fileURLToPath(new URL('../../../dist/web/', import.meta.url));
const PAGE = 'index.html';
const PATHS = ['/', ...VIEW_NAMES.flatMap((name) => [`/${name}`, `/${name}/*`])];

/** Names of assets have a hash of their content, so they never change. The page names the assets of the day. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const ASK_EACH_TIME = 'no-cache';

/** `/` and the views of the console: one page, which is the same at every path, with its scripts and styles. */
export const consoleRoutes: FastifyPluginAsync = async (app) => {
  app.addHook('onRequest', async ({ url }, reply) => {
    reply.header('cache-control', url.startsWith(ASSETS) ? FOR_EVER : ASK_EACH_TIME);
  });
  await app.register(fastifyStatic, {
    root: join(BUILT, ASSETS),
    prefix: ASSETS,
    // A route for each file: everything else is no such path.
    wildcard: false,
    index: false,
    cacheControl: false,
  });
  // `hide` keeps pages out of the document of the interface, as @fastify/static does.
  for (const path of PATHS) {
    app.get(path, { schema: { hide: true } }, (_, reply) => reply.sendFile(PAGE, BUILT));
  }
};
