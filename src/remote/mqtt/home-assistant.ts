import type { RegisterView } from '../../simulator/commands/schemas/value.js';
import type { Publication } from './outbox.js';
import { level } from './values.js';

/** Converts text to an identifier of Home Assistant. */
function identifier(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, (character) => `_${character.codePointAt(0)?.toString(16)}_`);
}

/**
 * The messages with which Home Assistant finds the named values of a device (MQTT discovery of Home
 * Assistant): a bit is a binary sensor, any other value is a sensor.
 * @param bench prefix of the topics
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
