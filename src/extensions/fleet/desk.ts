import { z } from 'zod';
import type { ApiContext } from '../../remote/api/desk.js';
import type { ExtensionPart } from '../../remote/api/extension.js';
import { seenSchema } from '../../simulator/commands/schemas/mqtt.js';
import { BenchesSeen } from './benches-seen.js';

/** The other benches on the broker. The MQTT link receives their states; `/api/v1/mqtt/benches` lists them. */
export function fleetAtDesk(desk: ApiContext): ExtensionPart {
  let seen: BenchesSeen | undefined;
  const list = () => seen?.list() ?? [];
  return {
    routes: {
      program: {
        'GET /mqtt/benches': {
          summary: 'List the benches on the broker',
          description:
            "The benches with topics next to this one's, if the broker lets it read them. This bench subscribes only while clients ask, so the first answer may be empty; ask again after a second. Null without a broker.",
          handle: async () => ({ benches: desk.mqtt ? list() : null }),
          response: {
            200: z.object({ benches: z.array(seenSchema).nullable() }).describe('The benches, or null.'),
          },
        },
      },
    },
    joinLink({ broker, order }) {
      const benches = new BenchesSeen(broker, order.definition.topic);
      seen = benches;
      return {
        connected: () => benches.turn(true),
        look: () => benches.turn(),
        arrived: (topic, payload) => benches.take(topic, payload),
      };
    },
  };
}
