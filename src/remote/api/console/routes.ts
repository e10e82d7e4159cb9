import { existsSync, readdirSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import { packageFile } from '../../../common/package.js';
import { refusal } from '../../../simulator/commands/refusal.js';
import { refuse } from '../answers.js';
import { takesGzip, vary } from '../compression.js';
import { ASSETS, VIEW_NAMES } from './paths.js';

/** The output of `scripts/ready.mjs build` for `src/remote/web`. */
const BUILT = fileURLToPath(packageFile('dist/web/'));
const PAGE = 'index.html';
const PATHS = ['/', ...VIEW_NAMES.flatMap((name) => [`/${name}`, `/${name}/*`])];

/**
 * The caching of assets. Their names contain a hash of their content, so they never change; the page names
 * the current ones.
 */
const FOR_EVER = 'public, max-age=31536000, immutable';
const ASK_EACH_TIME = 'no-cache';

/** File extension of the files that the build has compressed. */
const COMPRESSED = '.gz';

/** Serves `/` and the views of the console: one page for every path, and its scripts and styles. */
export const consoleRoutes: FastifyPluginCallback = (app, _, done) => {
  const names = existsSync(BUILT) ? readdirSync(join(BUILT, ASSETS)) : [];
  const serve = async (request: FastifyRequest, reply: FastifyReply, file: string) => {
    // Loaded late, because most running programs never serve the console.
    const { default: send } = await import('@fastify/send');
    const compressed = `${file}${COMPRESSED}`;
    const isBoth = names.some((name) => `${ASSETS}${name}` === compressed);
    const isCompressed = isBoth && takesGzip(request.headers['accept-encoding']);
    if (isBoth) vary(reply);
    const { statusCode, headers, stream } = await send(request.raw, isCompressed ? compressed : file, {
      root: BUILT,
      cacheControl: false,
      // A range beyond the end would give a 416 with a page of its own. A server may ignore ranges (RFC 9110,
      // 14.2).
      acceptRanges: false,
    });
    if (isCompressed) {
      const type = send.mime.getType(file);
      reply.header('content-encoding', 'gzip');
      headers['content-type'] = type === 'image/svg+xml' ? type : `${type}; charset=utf-8`;
    }
    if (statusCode < 400) return reply.code(statusCode).headers(headers).send(stream);
    reply.removeHeader('content-encoding');
    // Its body would be the library's own page.
    reply.header('cache-control', ASK_EACH_TIME);
    return refuse(request, reply, refusal('request.invalid', '', `${STATUS_CODES[statusCode]}`));
  };
  // One route per file, so every other path does not exist. `hide` keeps them out of the OpenAPI document.
  for (const name of names.filter((each) => !each.endsWith(COMPRESSED))) {
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
