import type { Extension } from '../../cli/verbs/extension.js';

export const TRAFFIC_FILES_EXTENSION: Extension = {
  name: 'traffic-files',
  atDesk: async (desk) => (await import('./desk.js')).trafficFilesAtDesk(desk),
};
