import { z } from 'zod';
import { secret, section } from '../../../common/schema/parts.js';
import { refusal } from '../../../simulator/commands/refusal.js';
import { errorSchema } from '../../../simulator/commands/schemas/problem.js';
import type { Access } from '../access/access.js';
import { refuse } from '../answers.js';
import type { Routes } from './route.js';

const sessionView = z
  .object({
    role: z.enum(['read', 'write']),
    secondsLeft: z
      .number()
      .nullable()
      .describe('When the browser must log in again, in seconds; null for a client without a session.'),
  })
  .meta({
    id: 'Session',
    description: 'Who the client is.',
    examples: [{ role: 'write', secondsLeft: 43200 }],
  });

export type Session = z.infer<typeof sessionView>;

const logInBody = section({ token: secret }).meta({
  examples: [{ token: '2f1c6d0b9a8e47c3b5d1e0f4a6978c12' }],
});

/** `/api/v1/session`: a browser logs in with a token and gets a cookie, which scripts can't read. */
export function sessionRoutes(access: Access): Routes {
  return {
    'POST /session': {
      summary: 'Log in',
      description:
        "Takes a token and sets a cookie that replaces it for 12 hours. Scripts can't read the cookie.",
      schema: { body: logInBody },
      handle: async (request, reply) => {
        if (!access.needsToken) {
          return refuse(request, reply, refusal('access.no_token_configured', '', 'no token is configured'));
        }
        const login = access.logIn(request.raw, (request.body as z.infer<typeof logInBody>).token);
        if (login.ok) {
          reply.header('set-cookie', login.cookie);
          return login.client;
        }
        const { code, path, message, headers = {} } = login.refusal;
        reply.headers(headers);
        return refuse(request, reply, refusal(code, path, message));
      },
      response: {
        200: sessionView,
        400: errorSchema,
        401: errorSchema.describe('Not a configured token.'),
        409: errorSchema.describe('No token is configured, so there is nothing to log in to.'),
        429: errorSchema.describe('More than 10 wrong tokens came from this address within a minute.'),
      },
    },
    'GET /session': {
      summary: 'Get what this client may do',
      description: 'The role of the token or the session, and how long the session lasts.',
      handle: async ({ raw }) =>
        // The guard has rejected unknown clients.
        access.clientOf(raw)!,
      response: { 200: sessionView },
    },
    'DELETE /session': {
      summary: 'Log out',
      description: 'Ends the session and removes the cookie. A read-only client may do this too.',
      handle: async ({ raw }, reply) => reply.code(204).header('set-cookie', access.logOut(raw)).send(null),
      response: { 204: z.null().describe('The session ended.') },
    },
  };
}
