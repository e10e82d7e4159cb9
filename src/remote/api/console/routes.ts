import { existsSync, readdirSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import { packageFile } from '../../../common/package.js';
import { refusal } from '../../../simulator/commands/refusal.js';
import { refuse } from '../answers.js';
import { ASSETS, VIEW_NAMES } from './paths.js';

/** The output of `scripts/ready.mjs build` for `src/remote/web`. */
const BUILT = fileURLToPath(packageFile('dist/web/'));
const PAGE = 'index.html';
const PATHS = ['/', ...VIEW_NAMES.flatMap((name) => [`/${name}`, `/${name}/*`])];

/**
 * The caching of assets. Their names have a hash of their content, so they never change; the page names the
 * present ones.
 */
const FOR_EVER = 'public, max-age=31536000, immutable';
const ASK_EACH_TIME = 'no-cache';

/** Serves `/` and the views of the console: one page for every path, and its scripts and styles. */
export const consoleRoutes: FastifyPluginCallback = (app, _, done) => {
  const serve = async (request: FastifyRequest, reply: FastifyReply, file: string) => {
    // Loaded late, because most programs that run show nobody their console.
    const { default: send } = await import('@fastify/send');
    const { statusCode, headers, stream } = await send(request.raw, file, {
      root: BUILT,
      cacheControl: false,
      // A range beyond the end would be a 416 with a page of its own. A server may ignore ranges (RFC 9110,
      // 14.2).
      acceptRanges: false,
    });
    if (statusCode < 400) return reply.code(statusCode).headers(headers).send(stream);
    // Its body would be a page of the library's own.
    reply.header('cache-control', ASK_EACH_TIME);
    return refuse(request, reply, refusal('request.invalid', '', `${STATUS_CODES[statusCode]}`));
  };
  // One route for each file, so every other path does not exist. `hide` keeps them out of the OpenAPI
  // document.
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
