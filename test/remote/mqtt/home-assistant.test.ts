import { describe, expect, it } from 'vitest';
import { discoveries } from '../../../src/remote/mqtt/home-assistant.js';
import type { RegisterView } from '../../../src/simulator/commands/schemas/value.js';

/*
 * What Home Assistant accepts, as read in home-assistant/core, homeassistant/components/mqtt: discovery.py (the topic),
 * schemas.py (availability, device, origin), config.py (MQTT_RO_SCHEMA), sensor.py and binary_sensor.py.
 */

/** discovery.py, TOPIC_MATCHER: a component, a node and an object, below the prefix. */
const TOPIC = /^homeassistant\/(sensor|binary_sensor)\/[a-zA-Z0-9_-]+\/[a-zA-Z0-9_-]+\/config$/;

/** The keys that entities of both kinds may have, of those that are sent here; other ones are removed or refused. */
const ENTITY = ['name', 'unique_id', 'state_topic', 'value_template', 'device', 'origin'];
/** schemas.py, MQTT_AVAILABILITY_SINGLE_SCHEMA: `availability_topic` excludes `availability`. */
const AVAILABILITY = [
  'availability_topic',
  'availability_template',
  'payload_available',
  'payload_not_available',
];
const OWN = { sensor: ['unit_of_measurement'], binary_sensor: ['payload_on', 'payload_off'] };
/** schemas.py, MQTT_ENTITY_DEVICE_INFO_SCHEMA and MQTT_ORIGIN_INFO_SCHEMA. */
const DEVICE = ['identifiers', 'name', 'manufacturer'];
const ORIGIN = ['name'];

const view = (more: Partial<RegisterView>) =>
  ({ name: 'v', unit: null, type: 'uint16', description: null, ...more }) as RegisterView;

const VALUES = [
  view({ name: 'voltage', unit: 'V', type: 'float32', description: 'Voltage of phase 1' }),
  view({ name: 'état/1 + #', type: 'bit' }),
  view({ name: null }),
];

describe('what Home Assistant is told', () => {
  const messages = discoveries('modbus-sim/bench 7', 'me/ter', VALUES).map(({ topic, payload, retain }) => ({
    topic,
    retain,
    component: TOPIC.exec(topic)?.[1] as keyof typeof OWN,
    config: JSON.parse(String(payload)) as Record<string, unknown>,
  }));

  it('is one retained message for each value with a name, at a topic that it looks at', () => {
    expect(messages.map(({ component, retain }) => [component, retain])).toEqual([
      ['sensor', true],
      ['binary_sensor', true],
    ]);
  });

  it('has what it needs and no key that it does not know', () => {
    for (const { component, config } of messages) {
      const allowed = [...ENTITY, ...AVAILABILITY, ...OWN[component]];
      expect(Object.keys(config).filter((key) => !allowed.includes(key))).toEqual([]);
      for (const key of ['state_topic', 'unique_id', 'availability_topic'])
        expect(config[key]).toMatch(/^[^+#\0]+$/);
      expect(Object.keys(config.device as object)).toEqual(DEVICE);
      expect(config.device).toMatchObject({ identifiers: [expect.stringMatching(/^[\w-]+$/)] });
      expect(Object.keys(config.origin as object)).toEqual(ORIGIN);
    }
    expect(new Set(messages.map(({ config }) => config.unique_id)).size).toBe(messages.length);
  });

  it('gives values as the templates of Home Assistant make them of JSON: a bit is 1 or 0', () => {
    const [voltage, bit] = messages.map(({ config }) => config);
    expect(voltage).toMatchObject({
      name: 'Voltage of phase 1',
      unit_of_measurement: 'V',
      state_topic: 'modbus-sim/bench 7/devices/me%2Fter/values/voltage',
      value_template: '{{ value_json }}',
    });
    expect(bit).toMatchObject({ payload_on: '1', payload_off: '0' });
    expect(bit).not.toHaveProperty('unit_of_measurement');
  });
});
