import { catalogueSchema } from '../../../simulator/commands/schemas/catalogue.js';
import type { Routes } from './route.js';

/** `/api/v1/catalogue`: what real devices do wrong. */
export const CATALOGUE_ROUTES: Routes = {
  'GET /catalogue': {
    summary: 'List what real devices do wrong',
    description:
      'Every entry, with what a client sees of it, who has reported it, and its manners and fault rules.',
    handle: async () => {
      const { readCatalogue } = await import('../../../files/config/catalogue.js');
      return { catalogue: readCatalogue() };
    },
    response: { 200: catalogueSchema },
  },
};
