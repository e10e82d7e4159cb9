import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { secret, section } from '../../schema/parts.js';
import type { Access } from '../access/access.js';
import { errorBody, errorSchema } from './problem.js';

const sessionView = z.object({
  role: z.enum(['read', 'write']),
  secondsLeft: z
    .number()
    .nullable()
    .describe('When the browser must log in again, in seconds; null for a client without a session.'),
});

const logInBody = section({ token: secret });

/** `/api/v1/session`: a browser logs in with a token and gets a cookie, which no script can read. */
export function sessionRoutes(access: Access): FastifyPluginCallbackZod {
  return (app, _, done) => {
    app.post(
      '/session',
      {
        schema: {
          body: logInBody,
          response: {
            200: sessionView,
            400: errorSchema,
            401: errorSchema,
            409: errorSchema,
            429: errorSchema,
          },
        },
      },
      async ({ raw, body: { token } }, reply) => {
        if (!access.needsToken) {
          return reply.code(409).send(errorBody([{ path: '', message: 'no token is configured' }]));
        }
        const login = access.logIn(raw, token);
        if (login.ok) {
          reply.header('set-cookie', login.cookie);
          return login.client;
        }
        const { status, headers = {}, ...problem } = login.refusal;
        return reply
          .code(status)
          .headers(headers)
          .send(errorBody([problem]));
      },
    );

    app.get(
      '/session',
      { schema: { response: { 200: sessionView } } },
      async ({ raw }) =>
        // The guard has let nobody in who is unknown.
        access.clientOf(raw)!,
    );

    app.delete('/session', { schema: { response: { 204: z.null() } } }, async ({ raw }, reply) =>
      reply.code(204).header('set-cookie', access.logOut(raw)).send(null),
    );
    done();
  };
}
