import type { RegisterView } from '../../simulator/commands/schemas/value.js';
import type { Publication } from './outbox.js';
import { level } from './values.js';

/** Converts text to a Home Assistant identifier. */
function identifier(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, (character) => `_${character.codePointAt(0)?.toString(16)}_`);
}

/** The Home Assistant device class for a unit, if only one class has the unit (sensor/const.py). */
const CLASSES: Readonly<Record<string, readonly string[]>> = {
  voltage: ['V', 'mV'],
  current: ['A', 'mA'],
  power: ['W', 'kW'],
  apparent_power: ['VA'],
  reactive_power: ['var'],
  energy: ['Wh', 'kWh', 'MWh'],
  frequency: ['Hz', 'kHz', 'MHz', 'GHz'],
  temperature: ['°C', '°F', 'K'],
  pressure: ['Pa', 'hPa', 'kPa', 'bar', 'mbar', 'psi'],
  irradiance: ['W/m²'],
  illuminance: ['lx'],
  volume_flow_rate: ['m³/h', 'L/min'],
  weight: ['g', 'kg'],
  distance: ['mm', 'cm', 'm', 'km'],
  duration: ['ms', 's', 'min', 'h', 'd'],
  signal_strength: ['dBm'],
};

const CLASS_OF_UNIT = new Map(
  Object.entries(CLASSES).flatMap(([name, units]) => units.map((unit) => [unit, name])),
);

/** The largest number in Home Assistant. The simulator rejects what does not fit in the register. */
const MOST = Number.MAX_SAFE_INTEGER;
/** The smallest step that Home Assistant allows (number.py). */
const LEAST_STEP = 0.001;

/** The Home Assistant keys that follow from the unit of a value. @param component of Home Assistant */
function measured({ unit, type }: RegisterView, component: string): object {
  if (unit === null || type === 'bit') return {};
  const deviceClass = type === 'string' ? undefined : CLASS_OF_UNIT.get(unit);
  const stateClass = deviceClass === 'energy' ? 'total_increasing' : 'measurement';
  return {
    unit_of_measurement: unit,
    ...(deviceClass && { device_class: deviceClass }),
    ...(component === 'sensor' && type !== 'string' && { state_class: stateClass }),
  };
}

/**
 * The messages that announce the named values of a device to Home Assistant (MQTT discovery). A value that
 * may be written is a switch or a number, any other one a binary sensor or a sensor.
 * @param bench topic prefix
 * @param takesCommands whether the bench accepts values from the broker
 */
export function discoveries(
  bench: string,
  device: string,
  values: readonly RegisterView[],
  takesCommands: boolean,
): Publication[] {
  const node = identifier(`${bench}/${device}`);
  return values.flatMap((value) => {
    const { name, type, description, writable, signal } = value;
    if (name === null) return [];
    const isBit = type === 'bit';
    const topics = `${bench}/devices/${level(device)}`;
    const [reads, writes] = isBit ? ['binary_sensor', 'switch'] : ['sensor', 'number'];
    // A signal computes its value, and `number` has no text.
    const isSet = takesCommands && writable && signal === null && type !== 'string';
    const component = isSet ? writes : reads;
    const config = {
      name: description ?? name,
      unique_id: `${node}_${identifier(name)}`,
      state_topic: `${topics}/values/${level(name)}`,
      // An unavailable value is null, which Home Assistant shows as unknown.
      value_template: '{{ value_json }}',
      ...(isSet && { command_topic: `${topics}/set/${level(name)}` }),
      availability_topic: `${bench}/state`,
      availability_template: '{{ value_json.state }}',
      payload_available: 'online',
      payload_not_available: 'offline',
      ...(isBit && { payload_on: '1', payload_off: '0' }),
      ...(component === 'number' && { min: -MOST, max: MOST, step: LEAST_STEP, mode: 'box' }),
      ...measured(value, component),
      device: { identifiers: [node], name: `${device} (${bench})`, manufacturer: 'modbus-sim' },
      origin: { name: 'modbus-sim' },
    };
    const message = (of: string, payload: string) => ({
      topic: `homeassistant/${of}/${node}/${identifier(name)}/config`,
      payload,
      retain: true,
    });
    // If the bench has started or stopped accepting commands, the previous entity of the value must be
    // removed.
    const before = writable ? [message(isSet ? reads : writes, '')] : [];
    return [...before, message(component, JSON.stringify(config))];
  });
}
