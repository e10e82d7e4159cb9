import type { At } from '../../../common/schema/at.js';
import { expectedMessage } from '../../../common/schema/problem.js';
import { type ActionName, PYMODBUS_ACTIONS } from '../../../device/registers/actions.js';
import { parseValue, type Value } from '../../../device/registers/value.js';
import { byType, type PymodbusType, setupSchema } from './schema.js';

/** The section `setup` of a device. Sizes are in cells of 16 bits. */
export interface PymodbusSetup {
  readonly coils: number;
  readonly discrete: number;
  readonly input: number;
  readonly holding: number;
  readonly shared: boolean;
  readonly wholeValues: boolean;
  /** The cells of all tables together. */
  readonly size: number;
  readonly defaults: Readonly<Record<PymodbusType, CellDefault>>;
}

export interface CellDefault {
  readonly value: Value;
  readonly action: ActionName | undefined;
}

/** Reads the section; undefined, after reporting why, when not even the sizes are known. */
export function readSetup(at: At): PymodbusSetup | undefined {
  const setup = at.check(setupSchema);
  const defaults = readDefaults(at.key('defaults'));
  if (!setup) return undefined;
  const coils = setup['co size'];
  const discrete = setup['di size'];
  const input = setup['ir size'];
  const holding = setup['hr size'];
  const shared = setup['shared blocks'];
  const size = shared ? Math.max(coils, discrete, input, holding) : coils + discrete + input + holding;
  return { coils, discrete, input, holding, shared, wholeValues: setup['type exception'], size, defaults };
}

function readDefaults(at: At): Record<PymodbusType, CellDefault> {
  const read = (type: PymodbusType): CellDefault => {
    const value = at.key('value').key(type);
    const none = type === 'string' ? '' : 0;
    const parsed = parseValue(type, value.value ?? none, LONGEST_STRING);
    if (!parsed.ok) value.expected(parsed.expected);
    const action = readActionName(at.key('action').key(type));
    return { value: parsed.ok ? parsed.value : none, action };
  };
  return byType(read);
}

/** The longest default string, in cells. Whether the string fits is checked where it is used. */
const LONGEST_STRING = 4 * 65536;

/** Reads the name of an action; undefined for null, for none, and after a mistake. */
export function readActionName(at: At): ActionName | undefined {
  if (at.value === undefined || at.value === null) return undefined;
  const name = PYMODBUS_ACTIONS.find((each) => each === at.value);
  if (name !== undefined) return name;
  const custom = typeof at.value === 'string' ? ' (custom actions of Python modules are not supported)' : '';
  return at.wrong(expectedMessage(`null, ${PYMODBUS_ACTIONS.join(', ')}`, at.value) + custom);
}
