import type { MqttStatus } from '../../../../simulator/commands/schemas/mqtt.js';
import { resource } from '../../resource.js';

/** The connection of this bench to its broker; null without a broker. */
export const broker = resource(
  () => '/mqtt',
  ({ mqtt }: { readonly mqtt: MqttStatus | null }) => mqtt,
);
