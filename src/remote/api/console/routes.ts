import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import { packageFile } from '../../../common/package.js';
import { ASSETS, VIEW_NAMES } from './paths.js';

/** What `scripts/ready.mjs build` makes of `src/remote/web`. */
const BUILT = fileURLToPath(packageFile('dist/web/'));
const PAGE = 'index.html';
const PATHS = ['/', ...VIEW_NAMES.flatMap((name) => [`/${name}`, `/${name}/*`])];

/** Names of assets have a hash of their content, so they never change. The page names the assets of the day. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const ASK_EACH_TIME = 'no-cache';

/** `/` and the views of the console: one page, which is the same at every path, with its scripts and styles. */
export const consoleRoutes: FastifyPluginCallback = (app, _, done) => {
  const serve = async (request: FastifyRequest, reply: FastifyReply, file: string) => {
    // Most programs that run show nobody their console.
    const { send } = await import('@fastify/send');
    const { statusCode, headers, stream } = await send(request.raw, file, {
      root: BUILT,
      cacheControl: false,
    });
    return reply.code(statusCode).headers(headers).send(stream);
  };
  // A route for each file: everything else is no such path. `hide` keeps them out of the document of the interface.
  for (const name of existsSync(BUILT) ? readdirSync(join(BUILT, ASSETS)) : []) {
    app.get(`${ASSETS}${name}`, { schema: { hide: true } }, (request, reply) => {
      reply.header('cache-control', FOR_EVER);
      return serve(request, reply, `${ASSETS}${name}`);
    });
  }
  for (const path of PATHS) {
    app.get(path, { schema: { hide: true } }, (request, reply) => {
      reply.header('cache-control', ASK_EACH_TIME);
      return serve(request, reply, PAGE);
    });
  }
  done();
};
