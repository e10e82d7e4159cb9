import type { ApiContext } from '../../remote/api/desk.js';
import type { ExtensionPart } from '../../remote/api/extension.js';
import { trafficFileRoutes } from './routes.js';
import { TrafficFiles } from './traffic-files.js';

/** Writes traffic to disk from the start if `traffic.file` asks for it, or when REST does. */
export function trafficFilesAtDesk({ traffic, map, log, writesIn }: ApiContext): ExtensionPart {
  const files = new TrafficFiles(traffic, map, log);
  return {
    routes: { traffic: trafficFileRoutes(files, writesIn) },
    async start({ trafficFile }) {
      const problem = trafficFile && (await files.start(trafficFile));
      return problem && `traffic: ${problem}`;
    },
    stop: () => files.stop(),
  };
}
