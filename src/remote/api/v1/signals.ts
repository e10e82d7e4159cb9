import { z } from 'zod';
import { SIGNAL_KINDS } from '../../../device/signals/kinds.js';
import { kindSchema } from '../../../simulator/commands/schemas/value.js';
import { JSON_TYPE } from '../answers.js';
import { madeOnce } from '../made.js';
import { Components } from '../schema-json.js';
import type { Routes } from './route.js';

const kindList = z.object({ kinds: z.array(kindSchema) }).describe('The kinds of signals.');

const kinds = madeOnce('signals.json', () => {
  const components = new Components();
  return {
    kinds: SIGNAL_KINDS.map(({ name, value, schema }) => ({
      name,
      value,
      schema: { ...components.convert(schema, 'input') },
    })),
  };
});

/** `/api/v1/signals`: the kinds of signals, for those who make forms. */
export const SIGNAL_KIND_ROUTES: Routes = {
  'GET /signals': {
    summary: 'List the kinds of signals',
    description: 'Every kind with the JSON Schema of its parameters, from which a form can be made.',
    handle: async (_, reply) => reply.type(JSON_TYPE).send(await kinds()),
    response: { 200: kindList },
  },
};
