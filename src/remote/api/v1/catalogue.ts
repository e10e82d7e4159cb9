import { z } from 'zod';
import { readCatalogue } from '../../../files/config/catalogue.js';
import { armedSchema, catalogueSchema } from '../../../simulator/commands/schemas/catalogue.js';
import { failures } from '../problem.js';
import type { Routes } from './route.js';

const params = z.object({
  id: z.string().meta({ description: 'Identifier of an entry.', examples: ['first-request-lost'] }),
});

/** `/api/v1/catalogue`: what real devices do wrong, to be switched on and off. */
export const CATALOGUE_ROUTES: Routes = {
  'GET /catalogue': {
    summary: 'List what real devices do wrong',
    description:
      'Every entry, with what a client sees of it, who has reported it, and its manners and fault rules.',
    handle: async () => ({ catalogue: readCatalogue() }),
    response: { 200: catalogueSchema },
  },
  'POST /catalogue/:id': {
    summary: 'Let devices misbehave',
    description:
      'Puts the manners and fault rules of an entry in force, for a device or for all devices of a line, and its settings of a line: all of it, or nothing.',
    call: 'misbehaviour.arm',
    params,
    response: { 201: armedSchema, ...failures(400, 404, 409) },
  },
  'DELETE /catalogue/:id': {
    summary: 'Let devices behave again',
    description:
      'Takes back the rules, manners and settings of an entry, wherever they are in force; the settings of a line get their defaults. Answers what was taken back.',
    call: 'misbehaviour.disarm',
    params,
    response: { 200: armedSchema, ...failures(400, 404) },
  },
};
