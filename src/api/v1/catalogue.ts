import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { findMisbehaviour, readCatalogue, rulesOf } from '../../config/catalogue.js';
import { refusal } from '../../control/refusal.js';
import { armedSchema, catalogueSchema, targetRequest } from '../../control/schemas/catalogue.js';
import { refuse, send } from '../answers.js';
import type { Desk } from '../desk.js';
import { errorSchema } from '../problem.js';

const params = z.object({
  id: z.string().meta({ description: 'Identifier of an entry.', examples: ['first-request-lost'] }),
});

/** `/api/v1/catalogue`: what real devices do wrong, to be switched on and off. */
export function catalogueRoutes({ door }: Desk): FastifyPluginCallbackZod {
  const shared = { tags: ['catalogue'] };

  return (app, _, done) => {
    app.get(
      '/catalogue',
      {
        schema: {
          ...shared,
          summary: 'List what real devices do wrong',
          description:
            'Every entry, with what a client sees of it, who has reported it, and its manners and fault rules.',
          response: { 200: catalogueSchema },
        },
      },
      () => ({ catalogue: readCatalogue() }),
    );

    app.post(
      '/catalogue/:id',
      {
        schema: {
          ...shared,
          summary: 'Let devices misbehave',
          description:
            'Puts the manners and fault rules of an entry in force, for a device or for all devices of a line, and its settings of a line: all of it, or nothing.',
          params,
          body: targetRequest,
          response: { 201: armedSchema, 400: errorSchema, 404: errorSchema, 409: errorSchema },
        },
      },
      (request, reply) => {
        const entry = findMisbehaviour(request.params.id);
        if (typeof entry === 'string')
          return refuse(request, reply, refusal('misbehaviour.unknown', 'id', entry));
        const { body: target } = request;
        const { manners, line } = entry;
        const arming = { manners, line, rules: rulesOf(entry, target), target };
        return send(request, reply, door.call('misbehaviour.arm', arming), 201);
      },
    );

    app.delete(
      '/catalogue/:id',
      {
        schema: {
          ...shared,
          summary: 'Let devices behave again',
          description:
            'Takes back the rules, manners and settings of an entry, wherever they are in force; the settings of a line get their defaults. Answers what was taken back.',
          params,
          response: { 200: armedSchema, 400: errorSchema, 404: errorSchema },
        },
      },
      (request, reply) => {
        const entry = findMisbehaviour(request.params.id);
        if (typeof entry === 'string')
          return refuse(request, reply, refusal('misbehaviour.unknown', 'id', entry));
        const { id, manners, line } = entry;
        return send(request, reply, door.call('misbehaviour.disarm', { id, manners, line }));
      },
    );
    done();
  };
}
