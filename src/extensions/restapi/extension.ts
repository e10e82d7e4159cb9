import type { Extension } from '../../cli/verbs/extension.js';

export const RESTAPI_EXTENSION: Extension = {
  name: 'restapi',
  atDesk: async (desk) => {
    const { restapiRoutes } = await import('./routes.js');
    return { plugins: { '/restapi': restapiRoutes(desk) } };
  },
};
