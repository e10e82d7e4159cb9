import { ACTION_NAMES, type ActionName } from '../../registers/action.js';
import { parseValue } from '../../registers/parse-value.js';
import type { Value } from '../../registers/value.js';
import { check, sectionOf } from '../../schema/parts.js';
import { expectedMessage, type Issue, type Path } from '../../schema/problem.js';
import { PYMODBUS_TYPES, type PymodbusType, setupSchema } from './schema.js';

/** The section `setup` of a device. Sizes are in cells of 16 bits. */
export interface PymodbusSetup {
  readonly coils: number;
  readonly discrete: number;
  readonly input: number;
  readonly holding: number;
  readonly shared: boolean;
  readonly wholeValues: boolean;
  /** Cells over all tables. */
  readonly size: number;
  readonly defaults: Readonly<Record<PymodbusType, CellDefault>>;
}

export interface CellDefault {
  readonly value: Value;
  readonly action: ActionName | undefined;
}

/** Undefined, after telling why, when not even the sizes are known. */
export function readSetup(value: unknown, path: Path, issues: Issue[]): PymodbusSetup | undefined {
  const setup = check(setupSchema, value, path, issues);
  const defaults = readDefaults(sectionOf(value, 'defaults'), [...path, 'defaults'], issues);
  if (!setup) return undefined;
  const coils = setup['co size'];
  const discrete = setup['di size'];
  const input = setup['ir size'];
  const holding = setup['hr size'];
  const shared = setup['shared blocks'];
  const size = shared ? Math.max(coils, discrete, input, holding) : coils + discrete + input + holding;
  return { coils, discrete, input, holding, shared, wholeValues: setup['type exception'], size, defaults };
}

function readDefaults(value: unknown, path: Path, issues: Issue[]): Record<PymodbusType, CellDefault> {
  const read = (type: PymodbusType): CellDefault => {
    const input = sectionOf(sectionOf(value, 'value'), type) ?? (type === 'string' ? '' : 0);
    const parsed = parseValue(type, input, LONGEST_STRING);
    if (!parsed.ok) {
      issues.push({ path: [...path, 'value', type], message: expectedMessage(parsed.expected, input) });
    }
    const action = readActionName(
      sectionOf(sectionOf(value, 'action'), type),
      [...path, 'action', type],
      issues,
    );
    return { value: parsed.ok ? parsed.value : type === 'string' ? '' : 0, action };
  };
  return Object.fromEntries(PYMODBUS_TYPES.map((type) => [type, read(type)])) as Record<
    PymodbusType,
    CellDefault
  >;
}

/** Cells; whether a default string fits is seen where it is used. */
const LONGEST_STRING = 4 * 65536;

/** The name of an action; undefined for null, for none, and after an issue. */
export function readActionName(value: unknown, path: Path, issues: Issue[]): ActionName | undefined {
  if (value === undefined || value === null) return undefined;
  const name = ACTION_NAMES.find((each) => each === value);
  if (name === undefined) {
    const message = expectedMessage(`null, ${ACTION_NAMES.join(', ')}`, value);
    const custom = typeof value === 'string' ? ' (custom actions of Python modules are not supported)' : '';
    issues.push({ path, message: message + custom });
  }
  return name;
}
