import { isMapping } from '../../../common/schema/parts.js';
import { done, refusal } from '../../../simulator/commands/refusal.js';
import type { DeskPart } from './route.js';

/** `PUT /api/v1/faults/NAME`: the name may be in the address alone. */
export const REPLACED_RULE: DeskPart = {
  preValidation: async (request) => {
    if (isMapping(request.body)) request.body = { ...(request.params as object), ...request.body };
  },
  input: ({ params, body }) => {
    const { name } = params as { readonly name: string };
    return (body as { readonly name: string }).name === name
      ? done({ rule: body })
      : refusal('rule.invalid', 'name', `expected ${name}, as in the address`);
  },
};
