import { describe, expect, it } from 'vitest';
import { discoveries } from '../../../src/remote/mqtt/home-assistant.js';
import type { RegisterView } from '../../../src/simulator/commands/schemas/value.js';

/*
 * What Home Assistant accepts, as read in home-assistant/core, homeassistant/components/mqtt: discovery.py (the topic),
 * schemas.py (availability, device, origin), config.py (MQTT_RO_SCHEMA, MQTT_RW_SCHEMA), sensor.py, binary_sensor.py, switch.py and
 * number.py; in components/sensor/const.py and components/number/const.py (units and state classes of device classes).
 */

/** discovery.py, TOPIC_MATCHER: a component, a node and an object, below the prefix. */
const TOPIC = /^homeassistant\/(sensor|binary_sensor|number|switch)\/[a-zA-Z0-9_-]+\/[a-zA-Z0-9_-]+\/config$/;

/** The keys that entities of both kinds may have, of those that are sent here; other ones are removed or refused. */
const ENTITY = ['name', 'unique_id', 'state_topic', 'value_template', 'device', 'origin'];
/** schemas.py, MQTT_AVAILABILITY_SINGLE_SCHEMA: `availability_topic` excludes `availability`. */
const AVAILABILITY = [
  'availability_topic',
  'availability_template',
  'payload_available',
  'payload_not_available',
];
const UNIT = ['unit_of_measurement', 'device_class'];
const OWN = {
  sensor: [...UNIT, 'state_class'],
  binary_sensor: ['payload_on', 'payload_off'],
  number: [...UNIT, 'command_topic', 'min', 'max', 'step', 'mode'],
  switch: ['command_topic', 'payload_on', 'payload_off'],
};
/** schemas.py, MQTT_ENTITY_DEVICE_INFO_SCHEMA and MQTT_ORIGIN_INFO_SCHEMA. */
const DEVICE = ['identifiers', 'name', 'manufacturer'];
const ORIGIN = ['name'];

const view = (more: Partial<RegisterView>) =>
  ({
    ...{ name: 'v', unit: null, type: 'uint16', description: null, writable: false, signal: null },
    ...more,
  }) as RegisterView;

const VALUES = [
  view({ name: 'voltage', unit: 'V', type: 'float32', description: 'Voltage of phase 1' }),
  view({ name: 'état/1 + #', type: 'bit' }),
  view({ name: null }),
];

const WRITABLE = [
  view({ name: 'limit', unit: 'kW', writable: true }),
  view({ name: 'relay', type: 'bit', writable: true }),
  view({ name: 'moved', writable: true, signal: { sine: {} } }),
  view({ name: 'text', type: 'string', writable: true }),
];

interface Message {
  readonly topic: string;
  readonly retain: boolean;
  readonly component: keyof typeof OWN;
  readonly config: Readonly<Record<string, unknown>> | undefined;
}

function announced(values: readonly RegisterView[], takesCommands = false): Message[] {
  const messages = discoveries('modbus-sim/bench 7', 'me/ter', values, takesCommands);
  return messages.map(({ topic, payload, retain }) => ({
    topic,
    retain: retain ?? false,
    component: TOPIC.exec(topic)?.[1] as keyof typeof OWN,
    // An empty message takes back what was announced before.
    config: payload === '' ? undefined : (JSON.parse(String(payload)) as Record<string, unknown>),
  }));
}

/** The components that are announced, by name. */
const components = (messages: readonly Message[]) =>
  messages.flatMap(({ component, config }) => (config ? [[config.name, component]] : []));

describe('what Home Assistant is told', () => {
  const messages = announced(VALUES);

  it('is one retained message for each value with a name, at a topic that it looks at', () => {
    expect(messages.map(({ component, retain }) => [component, retain])).toEqual([
      ['sensor', true],
      ['binary_sensor', true],
    ]);
  });

  it('has what it needs and no key that it does not know', () => {
    const all = [...messages, ...announced([...VALUES, ...WRITABLE], true)];
    for (const { component, config } of all) {
      if (!config) continue;
      const allowed = [...ENTITY, ...AVAILABILITY, ...OWN[component]];
      expect(Object.keys(config).filter((key) => !allowed.includes(key))).toEqual([]);
      for (const key of ['state_topic', 'unique_id', 'availability_topic', 'command_topic'])
        if (key !== 'command_topic' || key in config) expect(config[key]).toMatch(/^[^+#\0]+$/);
      expect(Object.keys(config.device as object)).toEqual(DEVICE);
      expect(config.device).toMatchObject({ identifiers: [expect.stringMatching(/^[\w-]+$/)] });
      expect(Object.keys(config.origin as object)).toEqual(ORIGIN);
    }
    expect(new Set(messages.map(({ config }) => config?.unique_id)).size).toBe(messages.length);
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

  it('says what is measured, where the unit does, and that energy is a total', () => {
    const classes = (unit: string, more: Partial<RegisterView> = {}) => {
      const [{ config }] = announced([view({ unit, ...more })]) as [Message];
      return [config?.device_class, config?.state_class];
    };
    expect(classes('V')).toEqual(['voltage', 'measurement']);
    expect(classes('kWh')).toEqual(['energy', 'total_increasing']);
    expect(classes('°C')).toEqual(['temperature', 'measurement']);
    // A share of anything: humidity, a battery, a valve.
    expect(classes('%')).toEqual([undefined, 'measurement']);
    expect(classes('V', { type: 'string' })).toEqual([undefined, undefined]);
  });

  it('is a switch or a number where clients may write and the bench takes commands', () => {
    const set = announced(WRITABLE, true);
    expect(components(set)).toEqual([
      ['limit', 'number'],
      ['relay', 'switch'],
      ['moved', 'sensor'],
      ['text', 'sensor'],
    ]);
    const configs = set.flatMap(({ config }) => config ?? []);
    expect(configs[0]).toMatchObject({
      command_topic: 'modbus-sim/bench 7/devices/me%2Fter/set/limit',
      unit_of_measurement: 'kW',
      device_class: 'power',
      mode: 'box',
    });
    expect(configs[1]).toMatchObject({
      command_topic: expect.stringContaining('/set/relay'),
      payload_on: '1',
    });
    expect(components(announced(WRITABLE)).map(([, component]) => component)).toEqual([
      'sensor',
      'binary_sensor',
      'sensor',
      'sensor',
    ]);
  });

  it('takes back what a value was while the bench took no commands, or took them', () => {
    for (const takesCommands of [true, false]) {
      const gone = announced(WRITABLE.slice(0, 2), takesCommands).filter(({ config }) => !config);
      expect(gone.map(({ component, retain }) => [component, retain])).toEqual(
        takesCommands
          ? [
              ['sensor', true],
              ['binary_sensor', true],
            ]
          : [
              ['number', true],
              ['switch', true],
            ],
      );
    }
  });
});
