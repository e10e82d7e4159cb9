import type { ApiContext } from '../../remote/api/desk.js';
import type { ExtensionPart } from '../../remote/api/extension.js';

/** Makes the bench a Sparkplug B edge node if `mqtt.sparkplug` asks for it. */
export function sparkplugAtDesk(desk: ApiContext): ExtensionPart {
  return {
    async joinLink(link) {
      const { sparkplug } = link.order.definition;
      return sparkplug && (await import('./join.js')).joinAsNode(desk, link, sparkplug);
    },
  };
}
