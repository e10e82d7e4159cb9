import type { Extension } from '../../cli/verbs/extension.js';

export const SPARKPLUG_EXTENSION: Extension = {
  name: 'sparkplug',
  atDesk: async (desk) => ({
    joinLink: async (link) => {
      const { sparkplug } = link.order.definition;
      return sparkplug && (await import('./desk.js')).joinAsNode(desk, link, sparkplug);
    },
  }),
};
