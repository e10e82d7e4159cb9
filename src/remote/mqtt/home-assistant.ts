import type { RegisterView } from '../../simulator/commands/schemas/value.js';
import type { Publication } from './outbox.js';
import { level } from './topics.js';

/** What Home Assistant takes for identifiers. */
function identifier(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, (character) => `_${character.codePointAt(0)?.toString(16)}_`);
}

/**
 * The messages that let Home Assistant find the values of a device that have names (MQTT discovery of Home Assistant): a bit is a binary sensor,
 * anything else is a sensor.
 * @param bench the beginning of the topics
 */
export function discoveries(bench: string, device: string, values: readonly RegisterView[]): Publication[] {
  const node = identifier(`${bench}/${device}`);
  return values.flatMap(({ name, unit, type, description }) => {
    if (name === null) return [];
    const isBit = type === 'bit';
    const config = {
      name: description ?? name,
      unique_id: `${node}_${identifier(name)}`,
      state_topic: `${bench}/devices/${level(device)}/values/${level(name)}`,
      // A value that is not available is null, which Home Assistant shows as unknown.
      value_template: '{{ value_json }}',
      availability_topic: `${bench}/state`,
      availability_template: '{{ value_json.state }}',
      payload_available: 'online',
      payload_not_available: 'offline',
      ...(isBit && { payload_on: '1', payload_off: '0' }),
      ...(!isBit && unit !== null && { unit_of_measurement: unit }),
      device: { identifiers: [node], name: `${device} (${bench})`, manufacturer: 'modbus-sim' },
      origin: { name: 'modbus-sim' },
    };
    const component = isBit ? 'binary_sensor' : 'sensor';
    return [
      {
        topic: `homeassistant/${component}/${node}/${identifier(name)}/config`,
        payload: JSON.stringify(config),
        retain: true,
      },
    ];
  });
}
