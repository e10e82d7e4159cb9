import { type Action, PYMODBUS_ACTIONS } from '../../../device/registers/actions.js';
import type { CellType } from '../../../device/registers/cell-type.js';
import type { Value } from '../../../device/registers/value.js';

/** The numbers of the types that REST clients know. */
export const REGISTER_TYPES = {
  invalid: 0,
  bits: 1,
  uint16: 2,
  uint32: 3,
  float32: 4,
  string: 5,
  next: 6,
} as const;

/** The numbers of the actions: 0 is none, the others follow in their order. */
export const REGISTER_ACTIONS: Readonly<Record<string, number>> = Object.fromEntries(
  ['null', ...PYMODBUS_ACTIONS].map((name, i) => [name, i]),
);

/**
 * The type under which each cell type is shown. Only the seven types of the original appear, as clients
 * expect of register_types.
 */
const NEAREST: Readonly<Record<CellType, keyof typeof REGISTER_TYPES>> = {
  invalid: 'invalid',
  bit: 'bits',
  bits: 'bits',
  uint16: 'uint16',
  int16: 'uint16',
  uint32: 'uint32',
  int32: 'uint32',
  uint64: 'uint32',
  int64: 'uint32',
  float32: 'float32',
  float64: 'float32',
  string: 'string',
  next: 'next',
};

export function typeText(type: CellType): string {
  return NEAREST[type];
}

/** A flag as the word that Python prints; existing clients compare it. */
export function accessText(writable: boolean): string {
  return writable ? 'True' : 'False';
}

/** An action as text: `none`, `uptime`, `random({'minval': 5, 'maxval': 9})`. */
export function actionText(action: Action | undefined): string {
  if (!action) return 'none';
  const parameters = Object.entries(action).filter(([, value]) => typeof value === 'number');
  if (parameters.length === 0) return action.name;
  return `${action.name}({${parameters.map(([key, value]) => `'${key}': ${value}`).join(', ')}})`;
}

export function valueText(type: CellType, value: Value): string {
  if (type === 'bits' || type === 'bit') return `0x${value.toString(16)}`;
  if (type === 'float32' || type === 'float64') return floatText(Number(value));
  return String(value);
}

/**
 * The shortest text that reads back as the same double, always with a point or an exponent, as Python writes
 * it.
 */
function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e16)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  const text = Object.is(value, -0) ? '-0' : String(value);
  return text.includes('.') ? text : `${text}.0`;
}
